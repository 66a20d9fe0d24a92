"""Runs schemathesis over a relay's own description: schemathesis_program.py URL ARGUMENTS.

Requests that can be signed are signed by an agent that is registered first, over the very bytes that
leave. ARGUMENTS go to schemathesis, the address of the description after them.
"""

import base64
import hashlib
import json
import os
import re
import sys
import tempfile
import time
import urllib.request
from urllib.parse import urlsplit

import schemathesis
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from schemathesis.cli import schemathesis as command_line

LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
SIGNED = r"^/v1/(whoami|agents/me|owner-token|messages|inbox|outbox)"

url, *arguments = sys.argv[1:]
key = Ed25519PrivateKey.from_private_bytes(b"\x05" * 32)


def base58(data):
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, text = number // 58, LETTERS[number % 58] + text
    return text


class Signature:
    """The signature headers, as authentication of the library `requests`."""

    address = base58(key.public_key().public_bytes_raw())

    def __call__(self, request):
        body = request.body or b""
        data = body.encode() if isinstance(body, str) else body
        path = re.match(r"[^?#]*", request.url[len(url):])[0]
        moment = int(time.time())
        text = f"relay:v1:{request.method}:{path}:{hashlib.sha256(data).hexdigest()}:{moment}"
        request.headers["X-Relay-Pubkey"] = self.address
        request.headers["X-Relay-Timestamp"] = str(moment)
        request.headers["X-Relay-Signature"] = base64.b64encode(key.sign(text.encode())).decode()
        return request


profile = json.dumps({"handle": "schemathesis", "pubkey": Signature.address}).encode()
urllib.request.urlopen(urllib.request.Request(f"{url}/v1/register", profile)).read()
schemathesis.auth.set_from_requests(Signature()).apply_to(path_regex=SIGNED)
with tempfile.TemporaryDirectory(prefix="relay-schemathesis-") as folder:
    os.chdir(folder)  # for what it writes
    try:
        command_line([*arguments, f"{url}/openapi.json"])
    finally:
        os.chdir("/")
