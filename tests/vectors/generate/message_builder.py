"""What whole-message cases are built from: a good message, changes to it, and its report."""

import base64
import copy
import hashlib

import rfc8785

from agents import RECIPIENT, SENDER
from canonical_strings import canonical_string
from names import word_name

SIGNED_AT = 1760000000
ABSENT = object()
TO_RECIPIENT = {"recipient": {"address": RECIPIENT.address}}
TO_HANDLE = {"recipient": {"address": RECIPIENT.address, "handle": "some_agent"}}

GOOD = {
    "canonicalString": "ok",
    "signature": "valid",
    "sender": "not-pinned",
    "contentHash": "match",
    "body": "bound",
    "addressee": "key",
    "age": {"signedAt": "2025-10-09T08:53:20.000Z", "skewSeconds": 0.25, "within": None},
}
NO_AGE = {"signedAt": None, "skewSeconds": None, "within": None}
UNBOUND = {"body": "unbound", "addressee": "unknown"}
NOT_CHECKED = {"body": "not-checked", "addressee": "unknown"}


def jcs(value):
    return rfc8785.dumps(value)


def request_bytes(to, body, in_reply_to=ABSENT, content_type=ABSENT):
    """The request as a sender of canonical JSON writes it."""
    request = {"to": to, "body": body, "in_reply_to": in_reply_to, "content_type": content_type}
    return jcs({name: value for name, value in request.items() if value is not ABSENT})


def message(raw, body, in_reply_to=None, content_type="text", signer=SENDER):
    """The message as the relay gives it to the recipient of a raw request."""
    text = canonical_string("POST", "/v1/messages", raw, SIGNED_AT)
    return {
        "id": 7,
        "from": signer.address,
        "from_handle": "some_sender",
        "from_word_name": word_name(signer.public_key),
        "body": body,
        "content_hash": hashlib.sha256(jcs(body)).hexdigest(),
        "signature": base64.b64encode(signer.sign(text)).decode(),
        "canonical_string": text,
        "in_reply_to": in_reply_to,
        "content_type": content_type,
        "created_at": "2025-10-09T08:53:20.250Z",
    }


def changed(base, **fields):
    result = copy.deepcopy(base)
    for name, value in fields.items():
        if value is ABSENT:
            del result[name]
        else:
            result[name] = value
    return result


def case(name, received, options, **verdicts):
    return {"name": name, "message": received, "options": options, "report": GOOD | verdicts}


def resigned(base, text, **fields):
    """The message with another signed string, properly signed."""
    return changed(
        base,
        canonical_string=text,
        signature=base64.b64encode(SENDER.sign(text)).decode(),
        **fields,
    )


BODY = {"text": "hello", "subject": "greeting"}
RAW = request_bytes(RECIPIENT.address, BODY)
PLAIN = message(RAW, BODY)


def with_request(options, raw):
    return options | {"request_hex": raw.hex()}
