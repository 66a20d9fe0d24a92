"""The verifier of whole messages: docs/verification.md, sections 7 to 9."""

import base64
import hashlib
import re
from datetime import datetime, timedelta, timezone

import rfc8785

from identities import AddressRefusal, decode_address, is_word_name_of, normal_handle, word_name
from signatures import verify_signature
from strict_json import JsonRefusal, parse_strict

CANONICAL_STRING = re.compile(r"relay:v1:([A-Z]+):(/[!-~]*):([0-9a-f]{64}):(0|[1-9][0-9]{0,14})")
SIGNATURE = re.compile(r"[A-Za-z0-9+/]{85}[AQgw]==")
DATE_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?(Z|[+-][0-9]{2}:[0-9]{2})"
)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
LAST_SECOND = 253402300799
ABSENT = object()


class MessageRefusal(Exception):
    """A malformed message or option, with the field."""

    def __init__(self, code, field):
        super().__init__(f"{code}: {field}")
        self.code = code
        self.field = field


def parse_canonical_string(text):
    match = CANONICAL_STRING.fullmatch(text)
    if match is None or "?" in match[2]:
        return None
    method, path, body_hash, timestamp = match.groups()
    return {"method": method, "path": path, "body_hash": body_hash, "timestamp": int(timestamp)}


def canonical(value):
    return rfc8785.dumps(value)


def sha256_hex(data):
    return hashlib.sha256(data).hexdigest()


def verify_message(message, recipient=None, sender=None, request=None, max_skew_seconds=None):
    received = _read(message)
    _check_options(sender, max_skew_seconds)
    forms = None if recipient is None else _forms(recipient)
    text = received["canonical_string"]
    parts = None if text is None else _message_parts(text)
    return {
        "canonicalString": "absent" if text is None else "malformed" if parts is None else "ok",
        "signature": "not-checkable" if text is None else _signature(received, text),
        "sender": "not-pinned" if sender is None else "pinned" if sender == received["from"] else "mismatch",
        "contentHash": "match" if sha256_hex(received["body"]) == received["content_hash"] else "mismatch",
        **_bind(received, parts, forms, request),
        "age": _age(parts, received["created_at"], max_skew_seconds),
    }


def _message_parts(text):
    parts = parse_canonical_string(text)
    is_message = parts is not None and (parts["method"], parts["path"]) == ("POST", "/v1/messages")
    return parts if is_message else None


def _signature(received, text):
    if SIGNATURE.fullmatch(received["signature"]) is None:
        return "invalid"
    try:
        signed = text.encode("utf-8", "strict")
    except UnicodeEncodeError:
        return "invalid"
    signature = base64.b64decode(received["signature"])
    return "valid" if verify_signature(signed, signature, received["key"]) else "invalid"


def _bind(received, parts, forms, request):
    if request is None and (forms is None or received["canonical_string"] is None):
        return {"body": "not-checked", "addressee": "unknown"}
    addressee = None
    if parts is not None:
        if forms is not None:
            addressee = _match_candidates(received, forms, parts["body_hash"])
        if addressee is None and request is not None:
            addressee = _match_request(request, received, forms, parts["body_hash"])
    if addressee is None:
        return {"body": "unbound", "addressee": "unknown"}
    return {"body": "bound", "addressee": addressee}


def _match_candidates(received, forms, body_hash):
    reply = received["in_reply_to"]
    body = parse_strict(received["body"], max_depth=1000)
    if received["content_type"] == "json":
        body = received["body"].decode()
        types = ["json"]
    else:
        types = [ABSENT, None, "text"]
    replies = [ABSENT, None] if reply is None else [reply]
    addresses = [("key", forms["address"]), ("word-name", forms["word_name"])]
    if forms["handle"] is not None:
        addresses += [("handle", forms["handle"]), ("handle", "@" + forms["handle"])]
    for addressee, to in addresses:
        for in_reply_to in replies:
            for content_type in types:
                members = {
                    "body": body,
                    "content_type": content_type,
                    "in_reply_to": in_reply_to,
                    "to": to,
                }
                request = {name: value for name, value in members.items() if value is not ABSENT}
                if sha256_hex(canonical(request)) == body_hash:
                    return addressee
    return None


def _match_request(request, received, forms, body_hash):
    if sha256_hex(request) != body_hash:
        return None
    try:
        parts = parse_strict(request, "members")
    except JsonRefusal:
        return None
    if not isinstance(parts, dict) or "body" not in parts or not isinstance(parts.get("to"), str):
        return None
    reply = parts.get("in_reply_to")
    if isinstance(reply, bool) or reply != received["in_reply_to"]:
        return None
    content_type = parts.get("content_type")
    if ("text" if content_type is None else content_type) != received["content_type"]:
        return None
    body = parts["body"]
    if received["content_type"] == "json":
        try:
            body = parse_strict(body) if isinstance(body, str) else ABSENT
        except JsonRefusal:
            return None
    if body is ABSENT or canonical(body) != received["body"]:
        return None
    return "unknown" if forms is None else _addressee(parts["to"], forms)


def _addressee(to, forms):
    handle = normal_handle(to)
    if handle is not None:
        if forms["handle"] is None:
            return "unknown"
        return "handle" if handle == forms["handle"] else None
    if "-" in to:
        return "word-name" if is_word_name_of(to, forms["key"]) else None
    return "key" if to == forms["address"] else None


def _age(parts, created_ms, max_skew_seconds):
    if parts is None:
        return {"signedAt": None, "skewSeconds": None, "within": None}
    timestamp = parts["timestamp"]
    skew = (created_ms - timestamp * 1000) / 1000
    signed_at = None
    if timestamp <= LAST_SECOND:
        moment = EPOCH + timedelta(seconds=timestamp)
        signed_at = moment.strftime("%Y-%m-%dT%H:%M:%S.000Z").zfill(24)
    within = None if max_skew_seconds is None else abs(skew) <= max_skew_seconds
    return {"signedAt": signed_at, "skewSeconds": skew, "within": within}


def _read(message):
    def malformed(field):
        return MessageRefusal("malformed_message", field)

    def text(field):
        if not isinstance(message.get(field), str):
            raise malformed(field)
        return message[field]

    def identifier(field):
        value = message.get(field)
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not is_whole or not 1 <= value < 2**53:
            raise malformed(field)
        return int(value)

    if not isinstance(message, dict):
        raise malformed("")
    received = {"from": text("from")}
    identifier("id")
    text("from_handle")
    text("from_word_name")
    try:
        received["key"] = decode_address(received["from"])
    except AddressRefusal:
        raise malformed("from") from None
    try:
        received["body"] = canonical(message["body"])
    except (KeyError, rfc8785.CanonicalizationError, UnicodeEncodeError):
        raise malformed("body") from None
    received["content_hash"] = text("content_hash")
    received["signature"] = text("signature")
    for field, reader in (("canonical_string", text), ("in_reply_to", identifier)):
        is_null = field in message and message[field] is None
        received[field] = None if is_null else reader(field)
    if message.get("content_type") not in ("text", "json"):
        raise malformed("content_type")
    received["content_type"] = message["content_type"]
    received["created_at"] = _milliseconds(text("created_at"))
    if received["created_at"] is None:
        raise malformed("created_at")
    return received


def _milliseconds(text):
    match = DATE_TIME.fullmatch(text)
    if match is None:
        return None
    whole, fraction, zone = match.groups()
    try:
        moment = datetime.strptime(whole + zone.replace("Z", "+0000"), "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:
        return None
    return (moment - EPOCH) // timedelta(milliseconds=1) + int((fraction or "0").ljust(3, "0")[:3])


def _check_options(sender, max_skew_seconds):
    if sender is not None:
        try:
            decode_address(sender)
        except AddressRefusal:
            raise MessageRefusal("invalid_option", "from") from None
    if max_skew_seconds is not None and not max_skew_seconds >= 0:
        raise MessageRefusal("invalid_option", "maxSkewSeconds")


def _forms(recipient):
    try:
        key = decode_address(recipient["address"])
    except (AddressRefusal, KeyError):
        raise MessageRefusal("invalid_option", "recipient.address") from None
    handle, name = recipient.get("handle"), recipient.get("word_name")
    if handle is not None and normal_handle(handle) is None:
        raise MessageRefusal("invalid_option", "recipient.handle")
    if name is not None and not is_word_name_of(name, key):
        raise MessageRefusal("invalid_option", "recipient.wordName")
    return {
        "address": recipient["address"],
        "key": key,
        "handle": None if handle is None else normal_handle(handle),
        "word_name": word_name(key) if name is None else name.lower(),
    }
