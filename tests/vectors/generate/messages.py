"""Whole messages, what the verifier is told beside them, and the report that it must give."""

import base64
import hashlib
import json
from itertools import product

import base58

from agents import OTHER, RECIPIENT, SENDER
from curve import L
from message_builder import (
    ABSENT,
    BODY,
    NO_AGE,
    NOT_CHECKED,
    PLAIN,
    RAW,
    SIGNED_AT,
    TO_HANDLE,
    TO_RECIPIENT,
    UNBOUND,
    case,
    changed,
    jcs,
    message,
    request_bytes,
    resigned,
    with_request,
)
from names import word_name
from refused_messages import refused_cases
from strict_signatures import MESSAGE, forged, not_points, small_order_encodings


def candidate_cases():
    """Every request of canonical JSON that the verifier rebuilds: 24 for a text without reply."""
    forms = {
        "key": RECIPIENT.address,
        "word-name": word_name(RECIPIENT.public_key),
        "handle": "some_agent",
        "@handle": "@some_agent",
    }
    shown = {ABSENT: "absent", None: "null"}
    bodies = {"text": (BODY, BODY), "json": (jcs(BODY).decode(), BODY)}
    types = {"text": (ABSENT, None, "text"), "json": ("json",)}
    for kind, reply in product(bodies, (None, 41)):
        sent, received = bodies[kind]
        for form, spelled, content_type in product(forms, (ABSENT, None) if reply is None else (41,), types[kind]):
            raw = request_bytes(forms[form], sent, spelled, content_type)
            name = (
                f"{kind} by {form}, in_reply_to {shown.get(spelled, spelled)}, "
                f"content_type {shown.get(content_type, content_type)}"
            )
            yield case(name, message(raw, received, reply, kind), TO_HANDLE, addressee=form.removeprefix("@"))


def body_cases():
    bodies = {
        "a string": "hello",
        "null": None,
        "false": False,
        "zero": 0,
        "an empty object": {},
        "numbers": [1.5, -0.001, 1e21, 5e-324, 9007199254740991, -1],
        "every kind of character": "\u0000\u001f\"\\/\u007f\u00e9\u20ac\u2028\U0001f600",
        "names that sort by code unit": {"\ue000": 1, "\U0001f600": 2, "a": 3, "": 4},
        "a long text": "x" * 3000,
    }
    for name, body in bodies.items():
        raw = request_bytes(RECIPIENT.address, body)
        yield case(f"the body is {name}", message(raw, body), TO_RECIPIENT)
    body = {"__proto__": {"polluted": True}, "text": "hi"}
    received = message(request_bytes(RECIPIENT.address, body), body)
    entry = case("the body has a member named __proto__", received, TO_RECIPIENT)
    # As text: some tools lose such a member when they read the vectors themselves.
    entry["message_text"] = json.dumps(entry.pop("message"))
    yield entry
    for name, body in {"null": None, "a string": "hi", "a number": 2.5}.items():
        raw = request_bytes(RECIPIENT.address, jcs(body).decode(), content_type="json")
        yield case(f"the json document is {name}", message(raw, body, None, "json"), TO_RECIPIENT)


def recipient_cases():
    yield case("no recipient", PLAIN, {}, **NOT_CHECKED)
    other = {"recipient": {"address": OTHER.address, "handle": "other_agent"}}
    yield case("another recipient", PLAIN, other, **UNBOUND)
    by_handle = message(request_bytes("some_agent", BODY), BODY)
    yield case("sent to a handle that was not given", by_handle, TO_RECIPIENT, **UNBOUND)
    given = {"recipient": {"address": RECIPIENT.address, "handle": "@Some_Agent"}}
    yield case("a handle given with @ and capitals", by_handle, given, addressee="handle")
    long_name = word_name(RECIPIENT.public_key, 3)
    by_name = message(request_bytes(long_name, BODY), BODY)
    yield case("sent to a long word name that was not given", by_name, TO_RECIPIENT, **UNBOUND)
    given = {"recipient": {"address": RECIPIENT.address, "word_name": long_name}}
    yield case("sent to a long word name", by_name, given, addressee="word-name")
    in_capitals = message(request_bytes("SOME_AGENT", BODY), BODY)
    yield case("sent to a handle in capitals, no request", in_capitals, TO_HANDLE, **UNBOUND)


def request_cases():
    spaced = json.dumps({"to": RECIPIENT.address, "body": BODY}, indent=1).encode()
    received = message(spaced, BODY)
    yield case("not canonical, no request", received, TO_RECIPIENT, **UNBOUND)
    yield case("not canonical, its request", received, with_request(TO_RECIPIENT, spaced))
    yield case("its request, no recipient", received, with_request({}, spaced), addressee="unknown")
    yield case("canonical and its request", PLAIN, with_request(TO_RECIPIENT, RAW))
    yield case("a request cut by one byte", received, with_request(TO_RECIPIENT, spaced[:-1]), **UNBOUND)
    yield case("an empty request", received, with_request(TO_RECIPIENT, b""), **UNBOUND)
    yield case("another request", received, with_request(TO_RECIPIENT, RAW), **UNBOUND)
    yield case(
        "candidates bind although another request is given", PLAIN, with_request(TO_RECIPIENT, spaced)
    )

    def spelled(text):
        return text.replace("TO", RECIPIENT.address).encode()

    texts = [
        ("capital handle", '{"to": "@Some_Agent", "body": 1}', {}, TO_HANDLE, {"addressee": "handle"}),
        ("a handle, none given", '{"to": "some_agent", "body": 1}', {}, TO_RECIPIENT, {"addressee": "unknown"}),
        ("another handle", '{"to": "other_agent", "body": 1}', {}, TO_HANDLE, UNBOUND),
        ("another key", '{"to": "%s", "body": 1}' % OTHER.address, {}, TO_RECIPIENT, UNBOUND),
        ("no address at all", '{"to": "%s", "body": 1}' % ("z" * 60), {}, TO_RECIPIENT, UNBOUND),
        ("a word name in capitals", '{"to": "%s", "body": 1}' % word_name(RECIPIENT.public_key, 2).upper(), {}, TO_RECIPIENT, {"addressee": "word-name"}),
        ("another word name", '{"to": "%s", "body": 1}' % word_name(OTHER.public_key), {}, TO_RECIPIENT, UNBOUND),
        ("@ before a key", '{"to": "@TO", "body": 1}', {}, TO_RECIPIENT, UNBOUND),
        ("@ before a word name", '{"to": "@%s", "body": 1}' % word_name(RECIPIENT.public_key), {}, TO_RECIPIENT, UNBOUND),
        ("two @ before a handle", '{"to": "@@some_agent", "body": 1}', {}, TO_HANDLE, UNBOUND),
        ("to is a number", '{"to": 5, "body": 1}', {}, TO_RECIPIENT, UNBOUND),
        ("no to", '{"body": 1}', {}, {}, UNBOUND),
        ("no body", '{"to": "TO"}', {"body": None}, TO_RECIPIENT, UNBOUND),
        ("another body", '{"to": "TO", "body": 2}', {}, TO_RECIPIENT, UNBOUND),
        ("the body spelled otherwise", '{"to": "TO", "body": 1.0e0}', {}, TO_RECIPIENT, {}),
        ("unknown members", '{"to": "TO", "body": 1, "note": [1]}', {}, TO_RECIPIENT, {}),
        ("a reply spelled 41.0", '{"to": "TO", "body": 1, "in_reply_to": 41.0}', {"in_reply_to": 41}, TO_RECIPIENT, {}),
        ("another reply", '{"to": "TO", "body": 1, "in_reply_to": 42}', {"in_reply_to": 41}, TO_RECIPIENT, UNBOUND),
        ("a reply that the message does not show", '{"to": "TO", "body": 1, "in_reply_to": 41}', {}, TO_RECIPIENT, UNBOUND),
        ("no reply, the message shows one", '{"to": "TO", "body": 1}', {"in_reply_to": 41}, TO_RECIPIENT, UNBOUND),
        ("json shown as text", '{"to": "TO", "body": "1", "content_type": "json"}', {"body": "1"}, TO_RECIPIENT, UNBOUND),
        ("text shown as json", '{"to": "TO", "body": "1"}', {"content_type": "json"}, TO_RECIPIENT, UNBOUND),
        ("json in its own spelling", '{"to": "TO", "body": " {\\"b\\": 1.0, \\"a\\": [ ]} ", "content_type": "json"}', {"body": {"a": [], "b": 1}, "content_type": "json"}, TO_RECIPIENT, {}),
        ("json that is not strict", '{"to": "TO", "body": "{\\"a\\":1,\\"a\\":1}", "content_type": "json"}', {"body": {"a": 1}, "content_type": "json"}, TO_RECIPIENT, UNBOUND),
        ("json that is no string", '{"to": "TO", "body": 1, "content_type": "json"}', {"content_type": "json"}, TO_RECIPIENT, UNBOUND),
        ("an unknown content type", '{"to": "TO", "body": 1, "content_type": "html"}', {}, TO_RECIPIENT, UNBOUND),
        ("a member twice", '{"to": "TO", "body": 1, "body": 1}', {}, TO_RECIPIENT, UNBOUND),
        ("not JSON", '{"to": "TO", "body": 1', {}, TO_RECIPIENT, UNBOUND),
        ("an array", '["TO", 1]', {}, TO_RECIPIENT, UNBOUND),
        ("a body of 64 containers", '{"to": "TO", "body": %s}' % ("[" * 64 + "]" * 64), {"body": json.loads("[" * 64 + "]" * 64)}, TO_RECIPIENT, {}),
    ]
    for name, text, fields, options, verdicts in texts:
        raw = spelled(text)
        body = fields.get("body", 1)
        received = message(raw, body, fields.get("in_reply_to"), fields.get("content_type", "text"))
        yield case(f"request: {name}", received, with_request(options, raw), **verdicts)


def canonical_string_cases():
    gone = changed(PLAIN, canonical_string=None)
    absent = {"canonicalString": "absent", "signature": "not-checkable", "age": NO_AGE}
    yield case("canonical_string null", gone, TO_RECIPIENT, **absent, **NOT_CHECKED)
    yield case("canonical_string null, a request", gone, with_request(TO_RECIPIENT, RAW), **absent, **UNBOUND)
    text = PLAIN["canonical_string"]
    digest = text.split(":")[4]
    malformed = {
        "of a GET": text.replace("POST", "GET"),
        "of another path": text.replace("/v1/messages", "/v1/inbox"),
        "with a query": text.replace("/v1/messages", "/v1/messages?x"),
        "with an uppercase hash": text.replace(digest, digest.upper()),
        "with a leading zero": text.replace(":1760000000", ":01760000000"),
        "in milliseconds of sixteen digits": text.replace(":1760000000", ":1760000000000000"),
        "with a line feed": text + "\n",
        "of another version": text.replace("v1", "v2", 1),
        "of a mail registration": f"relay-mail:register:{SENDER.address}:{SIGNED_AT}",
        "empty": "",
    }
    for name, other in malformed.items():
        verdicts = {"canonicalString": "malformed", "age": NO_AGE}
        yield case(f"canonical_string {name}, signed", resigned(PLAIN, other), TO_RECIPIENT, **verdicts, **UNBOUND)
    other = malformed["of a GET"]
    yield case("canonical_string of a GET, no recipient", resigned(PLAIN, other), {}, canonicalString="malformed", age=NO_AGE, **NOT_CHECKED)
    yield case("canonical_string of a GET, not signed", changed(PLAIN, canonical_string=other), TO_RECIPIENT, canonicalString="malformed", signature="invalid", age=NO_AGE, **UNBOUND)
    swapped = text.replace(digest, hashlib.sha256(b"other").hexdigest())
    yield case("the hash of another request, signed", resigned(PLAIN, swapped), TO_RECIPIENT, **UNBOUND)
    yield case("the hash of another request, not signed", changed(PLAIN, canonical_string=swapped), TO_RECIPIENT, signature="invalid", **UNBOUND)
    lone = text + "\ud800"
    substituted = base64.b64encode(SENDER.sign(text + "\ufffd")).decode()
    yield case("a lone surrogate in canonical_string, its substitute signed", changed(PLAIN, canonical_string=lone, signature=substituted), TO_RECIPIENT, canonicalString="malformed", signature="invalid", age=NO_AGE, **UNBOUND)


def signature_cases():
    good = base64.b64decode(PLAIN["signature"])
    s = int.from_bytes(good[32:], "little")
    spelled = {
        "a bit flipped": base64.b64encode(bytes([good[0] ^ 1]) + good[1:]).decode(),
        "S + L": base64.b64encode(good[:32] + (s + L).to_bytes(32, "little")).decode(),
        "empty": "",
        "63 bytes": base64.b64encode(good[:63]).decode(),
        "65 bytes": base64.b64encode(good + b"\0").decode(),
        "hex": good.hex(),
        "without padding": PLAIN["signature"].rstrip("="),
        "in the URL alphabet": "-" + PLAIN["signature"][1:],
        "with unused bits set": PLAIN["signature"][:-3] + chr(ord(PLAIN["signature"][-3]) + 1) + "==",
        "with space after it": PLAIN["signature"] + " ",
        "with a line feed after it": PLAIN["signature"] + "\n",
        "by another key": base64.b64encode(OTHER.sign(PLAIN["canonical_string"])).decode(),
        "over the raw request": base64.b64encode(SENDER.key.sign(RAW)).decode(),
    }
    for name, signature in spelled.items():
        yield case(f"signature: {name}", changed(PLAIN, signature=signature), TO_RECIPIENT, signature="invalid")


def sender_cases():
    yield case("the expected sender", PLAIN, TO_RECIPIENT | {"from": SENDER.address}, sender="pinned")
    yield case("another sender than expected", PLAIN, TO_RECIPIENT | {"from": OTHER.address}, sender="mismatch")
    by_other = message(RAW, BODY, signer=OTHER)
    yield case("signed by another key", by_other, TO_RECIPIENT | {"from": SENDER.address}, sender="mismatch")
    claimed = changed(PLAIN, **{"from": OTHER.address})
    yield case("from another key than signed", claimed, TO_RECIPIENT, signature="invalid")
    for name, data in [("of small order", small_order_encodings()[-2][0]), *not_points()]:
        address = base58.b58encode(data).decode()
        yield case(f"from a key that is {name}", changed(PLAIN, **{"from": address}), TO_RECIPIENT, signature="invalid")
    # The signed string of MESSAGE, forged for a key of order 8: lenient verifiers accept it.
    key = next(data for data, ok in small_order_encodings() if ok and data[0] == 0xC7)
    text = MESSAGE.decode()
    fake = changed(PLAIN, canonical_string=text, signature=base64.b64encode(forged(key, None, 8)).decode(), **{"from": base58.b58encode(key).decode()})
    yield case("a signature forged for a key of small order", fake, TO_RECIPIENT, signature="invalid", **UNBOUND)


def content_cases():
    yield case("content_hash of another body", changed(PLAIN, content_hash=hashlib.sha256(b"1").hexdigest()), TO_RECIPIENT, contentHash="mismatch")
    yield case("content_hash in capitals", changed(PLAIN, content_hash=PLAIN["content_hash"].upper()), TO_RECIPIENT, contentHash="mismatch")
    yield case("content_hash empty", changed(PLAIN, content_hash=""), TO_RECIPIENT, contentHash="mismatch")
    swapped = changed(PLAIN, body={"text": "hellp", "subject": "greeting"})
    yield case("body changed", swapped, TO_RECIPIENT, contentHash="mismatch", **UNBOUND)
    yield case("body changed, no recipient", swapped, {}, contentHash="mismatch", **NOT_CHECKED)
    rehashed = changed(swapped, content_hash=hashlib.sha256(jcs(swapped["body"])).hexdigest())
    yield case("body and content_hash changed", rehashed, TO_RECIPIENT, **UNBOUND)
    yield case("body and content_hash changed, the request", rehashed, with_request(TO_RECIPIENT, RAW), **UNBOUND)
    yield case("in_reply_to added", changed(PLAIN, in_reply_to=1), TO_RECIPIENT, **UNBOUND)
    yield case("content_type changed", changed(PLAIN, content_type="json"), TO_RECIPIENT, **UNBOUND)
    yield case("an extra field", PLAIN | {"subject": [1]}, TO_RECIPIENT)


def age_cases():
    def aged(created_at, skew, within, limit, **more):
        options = TO_RECIPIENT | ({} if limit is None else {"max_skew_seconds": limit})
        age = {"signedAt": "2025-10-09T08:53:20.000Z", "skewSeconds": skew, "within": within} | more
        return case(f"created {created_at}, at most {limit} s", changed(PLAIN, created_at=created_at), options, age=age)

    yield aged("2025-10-09T08:53:20.250Z", 0.25, True, 0.25)
    yield aged("2025-10-09T08:53:20.250Z", 0.25, False, 0.249)
    yield aged("2025-10-09T08:53:20Z", 0, True, 0)
    yield aged("2025-10-09T08:58:20.000Z", 300, True, 300)
    yield aged("2025-10-09T08:58:20.001Z", 300.001, False, 300)
    yield aged("2025-10-09T08:48:20.000Z", -300, True, 300)
    yield aged("2025-10-09T08:48:19.999Z", -300.001, False, 300)
    yield aged("2025-10-09T10:53:21+02:00", 1, None, None)
    late = PLAIN["canonical_string"].replace(":1760000000", ":999999999999999")
    age = {"signedAt": None, "skewSeconds": 1760000000.25 - 999999999999999, "within": False}
    yield case("signed in the year 31 million", resigned(PLAIN, late), TO_RECIPIENT | {"max_skew_seconds": 300}, age=age)
    early = PLAIN["canonical_string"].replace(":1760000000", ":0")
    age = {"signedAt": "1970-01-01T00:00:00.000Z", "skewSeconds": 1760000000.25, "within": None}
    yield case("signed in 1970", resigned(PLAIN, early), TO_RECIPIENT, age=age)


def vectors():
    groups = (
        candidate_cases,
        body_cases,
        recipient_cases,
        request_cases,
        canonical_string_cases,
        signature_cases,
        sender_cases,
        content_cases,
        age_cases,
        refused_cases,
    )
    cases = [entry for group in groups for entry in group()]
    names = [entry["name"] for entry in cases]
    assert len(names) == len(set(names)), "names must be unique"
    keys = {"sender": SENDER.as_json(), "recipient": RECIPIENT.as_json(), "other": OTHER.as_json()}
    return {"keys": keys, "cases": cases}
