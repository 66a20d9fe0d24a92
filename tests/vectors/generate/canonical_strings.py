"""Signed requests: service specification 5.1."""

import base64
import hashlib

from agents import SENDER


def canonical_string(method, path, body, timestamp):
    return f"relay:v1:{method}:{path}:{hashlib.sha256(body).hexdigest()}:{timestamp}"


def vectors():
    requests = [
        ("GET", "/v1/inbox", b"", 1760000000),
        ("HEAD", "/v1/inbox", b"", 1760000000),
        ("POST", "/v1/messages", b'{"body":"hello","to":"some_agent"}', 1760000000),
        ("POST", "/v1/messages", '{"body":"h\u00e9llo \u20ac \U0001f600","to":"some_agent"}'.encode(), 1760000001),
        ("POST", "/v1/messages", b" { \"to\" : \"some_agent\" , \"body\" : 1.0 } \n", 0),
        ("PATCH", "/v1/agents/me", bytes([0, 255, 128, 10]), 1),
        ("GET", "/v1/messages/42/signed-request", b"", 999999999999999),
        ("GET", "/v1/agents/%40some_agent", b"", 1760000000),
        ("GET", "/v1/a:b:c", b"", 1760000000),
    ]
    signed = []
    for method, path, body, timestamp in requests:
        text = canonical_string(method, path, body, timestamp)
        signed.append(
            {
                "method": method,
                "path": path,
                "body_hex": body.hex(),
                "timestamp": timestamp,
                "canonical_string": text,
                "signature": base64.b64encode(SENDER.sign(text)).decode(),
            }
        )
    good = signed[2]["canonical_string"]
    digest = good.split(":")[4]
    malformed = {
        "empty": "",
        "another scheme": good.replace("relay", "Relay"),
        "another version": good.replace("v1:", "v2:", 1),
        "a lowercase method": good.replace("POST", "post"),
        "no method": good.replace("POST", ""),
        "a path without slash": good.replace("/v1/messages", "v1/messages"),
        "a query": good.replace("/v1/messages", "/v1/messages?a=1"),
        "a space in the path": good.replace("/v1/messages", "/v1/ messages"),
        "a path outside ASCII": good.replace("/v1/messages", "/v1/m\u00e9ssages"),
        "an uppercase hash": good.replace(digest, digest.upper()),
        "a hash of 63 digits": good.replace(digest, digest[1:]),
        "a hash of 65 digits": good.replace(digest, digest + "0"),
        "a timestamp with a leading zero": good.replace(":1760000000", ":01760000000"),
        "a negative timestamp": good.replace(":1760000000", ":-1760000000"),
        "a fraction": good.replace(":1760000000", ":1760000000.5"),
        "sixteen digits": good.replace(":1760000000", ":1760000000000000"),
        "no timestamp": good.replace(":1760000000", ":"),
        "a field more": good + ":0",
        "space before it": " " + good,
        "a line feed after it": good + "\n",
        "a line feed before it": "\n" + good,
    }
    return {
        "key": SENDER.as_json(),
        "signed": signed,
        "malformed": [{"name": name, "text": text} for name, text in malformed.items()],
    }
