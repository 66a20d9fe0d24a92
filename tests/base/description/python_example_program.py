"""Drives the Python example for its test: python_example_program.py FOLDER MESSAGE_VECTORS.

FOLDER holds the example as relay.py, with the relay under test in it. Prints one line of JSON.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import time

folder, vectors = sys.argv[1:]
os.environ["RELAY_PRIVATE_KEY_HEX"] = "07" * 32
sys.path.insert(0, folder)
import relay  # noqa: E402


def send_all():
    """Two equal messages at one moment, and a document; returns their ids."""
    clock, moment = time.time, time.time()
    time.time = lambda: moment
    numbers = [0, -0.0, 1.0, 21.5, -0.0001, 123456789012345.6, 2**53 - 1]
    body = {"text": "Hello é \U0001f600\n", "n": numbers, "\ue000": None, "\U0001f600": True}
    text = {"to": "@pia", "body": body}
    ids = [send(text), send(text)]
    ids.append(send({
        "to": relay.ADDRESS,
        "body": '{"a":[1.0,"x"]}',
        "content_type": "json",
        "in_reply_to": ids[0],
    }))
    time.time = clock
    return ids


def send(request):
    return json.loads(relay.call("POST", "/v1/messages", body=request))["id"]


def verdicts(pairs, pinned, handle="pia", **changes):
    relay.PINNED = pinned
    return [relay.overall({**message, **changes}, request, handle) for message, request in pairs]


def forgeries(pairs):
    message, request = pairs[0]
    own = [relay.ADDRESS]
    other = relay.canonical({"text": "forged"})
    forged = {"body": {"text": "forged"}, "content_hash": relay.sha256(other.encode())}
    bytes_of_forged = request.replace(relay.canonical(message["body"]).encode(), other.encode())
    spelled = message["signature"][:-3] + chr(ord(message["signature"][-3]) + 1) + "=="
    return {
        "body": verdicts(pairs[:1], own, **forged),
        "body with its request": verdicts([(message, bytes_of_forged)], own, **forged),
        "body alone": verdicts(pairs[:1], own, body="forged"),
        "another's request": verdicts([(message, pairs[2][1])], own),
        "a refused request": verdicts([(message, b'{"error":{"code":"not_found"}}')], own),
        "reply": verdicts(pairs[:1], own, in_reply_to=7),
        "content type": verdicts(pairs[:1], own, content_type="json"),
        "addressee": verdicts(pairs[:1], own, handle="someone_else"),
        "no string": verdicts(pairs[:1], own, canonical_string=None),
        "number": verdicts(pairs[:1], own, body=1e-5),
        "sender": verdicts(pairs[:1], ["4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS"],
                           **{"from": "4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS"}),
        "empty sender": verdicts(pairs[:1], os.environ.get("NONE", "").split(), **{"from": ""}),
        "signature": verdicts(pairs[:1], own, signature="A" * 86 + "=="),
        "spelling of the signature": verdicts(pairs[:1], own, signature=spelled),
        "string": verdicts(pairs[:1], own, canonical_string=message["canonical_string"] + "0"),
    }


def printed(pinned):
    """What the example prints as a program, until its first look at the inbox is over."""
    rounds = iter([None])
    sleep, time.sleep = time.sleep, lambda _seconds: next(rounds)
    os.environ["RELAY_PINNED"] = " ".join(pinned)
    sys.argv = ["relay.py", "pia", "pia", "by the program \x1b[2J"]
    lines = io.StringIO()
    with contextlib.redirect_stdout(lines), contextlib.suppress(StopIteration):
        runpy.run_path(os.path.join(folder, "relay.py"), run_name="__main__")
    time.sleep = sleep
    return lines.getvalue()


def judged(cases):
    """The verdict on each vector that has a report and tells the recipient's address."""
    for case in cases:
        options = case["options"]
        if "report" not in case or "recipient" not in options:
            continue
        relay.ADDRESS = options["recipient"]["address"]
        relay.PINNED = [options["from"]] if "from" in options else []
        message = json.loads(case["message_text"]) if "message_text" in case else case["message"]
        request = bytes.fromhex(options.get("request_hex", ""))
        verdict = relay.overall(message, request, options["recipient"].get("handle", "-"))
        yield case["name"], verdict


own_address = relay.ADDRESS
relay.call("POST", "/v1/register", body={"handle": "pia", "pubkey": own_address})
ids = send_all()
inbox = json.loads(relay.call("GET", "/v1/inbox"))["messages"]
pairs = [(one, relay.call("GET", f"/v1/messages/{one['id']}/signed-request")) for one in inbox]
print(json.dumps({
    "address": own_address,
    "ids": ids,
    "received": [one["id"] for one in inbox],
    "unpinned": verdicts(pairs, []),
    "pinned": verdicts(pairs, [own_address]),
    "forgeries": {what: one for what, (one,) in forgeries(pairs).items()},
    "printed": {"unpinned": printed([]), "pinned": printed([own_address])},
    "vectors": dict(judged(json.load(open(vectors, encoding="utf-8"))["cases"])),
}))
