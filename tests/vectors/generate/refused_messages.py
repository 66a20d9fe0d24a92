"""Messages and options that are malformed: an error with its field, not a report."""

import base58

from agents import OTHER, RECIPIENT, SENDER
from message_builder import ABSENT, PLAIN, TO_RECIPIENT, changed
from names import word_name


def refused_cases():
    def refused(name, received, field, options=TO_RECIPIENT, code="malformed_message"):
        return {"name": name, "message": received, "options": options, "error": {"code": code, "field": field}}

    for field in PLAIN:
        yield refused(f"no {field}", changed(PLAIN, **{field: ABSENT}), field)
        if field not in ("body", "canonical_string", "in_reply_to"):
            yield refused(f"{field} null", changed(PLAIN, **{field: None}), field)
        if field != "body":
            yield refused(f"{field} an array", changed(PLAIN, **{field: [PLAIN[field]]}), field)
    for value in (0, -1, 1.5, 2**53, "7"):
        yield refused(f"id {value!r}", changed(PLAIN, id=value), "id")
        yield refused(f"in_reply_to {value!r}", changed(PLAIN, in_reply_to=value), "in_reply_to")
    short = base58.b58encode(bytes(32)).decode()
    for name, value in {"empty": "", "a handle": "some_sender", "of 31 bytes": base58.b58encode(b"\xff" * 31).decode(), "of 32 characters": short, "with space": " " + SENDER.address}.items():
        yield refused(f"from {name}", changed(PLAIN, **{"from": value}), "from")
    for value in ("", "now", "2025-10-09", "2025-10-09 08:53:20Z", "2025-10-09T08:53:20", "2025-13-09T08:53:20Z", "2025-10-09T25:53:20Z", "2025-10-09T24:00:00Z", "2025-02-29T08:53:20Z", "2025-00-09T08:53:20Z", "1760000000", "2025-10-09T08:53:20+22:99", "2025-10-09T08:53:20+24:00", "2025-10-09T08:53:60Z", "0000-01-01T00:00:00Z", "0000-02-29T00:00:00Z"):
        yield refused(f"created_at {value!r}", changed(PLAIN, created_at=value), "created_at")
    for value in ("", "html", "TEXT"):
        yield refused(f"content_type {value!r}", changed(PLAIN, content_type=value), "content_type")
    yield refused("a lone surrogate in the body", changed(PLAIN, body="\ud800"), "body")
    for name, value in {"null": None, "an array": [PLAIN], "a string": "x", "a number": 1}.items():
        yield refused(f"the message is {name}", value, "")
    bad = "invalid_option"
    yield refused("from is no address", PLAIN, "from", {"from": "some_sender"}, bad)
    yield refused("a negative skew", PLAIN, "maxSkewSeconds", {"max_skew_seconds": -1}, bad)
    yield refused("the recipient is no address", PLAIN, "recipient.address", {"recipient": {"address": "some_agent"}}, bad)
    yield refused("the recipient has no address", PLAIN, "recipient.address", {"recipient": {"handle": "some_agent"}}, bad)
    yield refused("the recipient's handle is none", PLAIN, "recipient.handle", {"recipient": {"address": RECIPIENT.address, "handle": "some-agent"}}, bad)
    yield refused("the recipient's word name is another's", PLAIN, "recipient.wordName", {"recipient": {"address": RECIPIENT.address, "word_name": word_name(OTHER.public_key)}}, bad)
