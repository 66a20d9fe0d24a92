"""A verifier in Python, written from docs/verification.md, over the vectors beside this folder.

    pip install -r tests/vectors/check/requirements.txt
    python3 tests/vectors/check

Prints what fails and ends with one line, `N passed, N failed`; exits with 1 when anything failed.
"""

import base64
import json
import struct
import sys
from pathlib import Path

from nacl.signing import SigningKey

from identities import AddressRefusal, decode_address, encode_address, is_word_name_of, word_name
from signatures import is_strict_public_key, verify_signature
from strict_json import JsonRefusal, parse_strict
from verify_message import MessageRefusal, canonical, parse_canonical_string, sha256_hex, verify_message

VECTORS = Path(__file__).parent.parent


def load(name):
    return json.loads((VECTORS / f"{name}.json").read_text())


def outcome(function, *arguments, **options):
    """What a function returns, or the code of its refusal."""
    try:
        return function(*arguments, **options)
    except (JsonRefusal, AddressRefusal) as refusal:
        return refusal.code


def signature_cases():
    sources = {"rfc8032": {"valid": True}, "ed25519_speccheck": {}, "ed25519_strict": {}}
    for source, defaults in sources.items():
        for case in load(source)["signatures"]:
            message, signature, key = (
                bytes.fromhex(case[f"{field}_hex"]) for field in ("message", "signature", "public_key")
            )
            expected = (defaults | case)["valid"]
            yield f"{source}: {case['name']}", verify_signature(message, signature, key), expected
    for case in load("rfc8032")["signatures"]:
        key = SigningKey(bytes.fromhex(case["private_key_hex"]))
        signature = key.sign(bytes.fromhex(case["message_hex"])).signature
        made = (key.verify_key.encode().hex(), signature.hex())
        yield f"rfc8032 signs: {case['name']}", made, (case["public_key_hex"], case["signature_hex"])
    for case in load("ed25519_strict")["keys"]:
        yield f"key: {case['name']}", is_strict_public_key(bytes.fromhex(case["public_key_hex"])), case["strict"]


def json_cases():
    vectors = load("canonical_json")
    for case in vectors["documents"]:
        text = canonical(parse_strict(case["json"]))
        yield f"canonical: {case['name']}", (text.decode(), sha256_hex(text)), (case["canonical"], case["sha256"])
    for case in vectors["numbers"]:
        yield f"number {case['bits_hex']}", canonical(double(case["bits_hex"])).decode(), case["canonical"]
    for case in vectors["refused_numbers"]:
        yield f"number {case['name']}", canonical_refuses(double(case["bits_hex"])), True
    vectors = load("strict_json")
    for case in vectors["accepted"]:
        for text in (case["text"], case["text"].encode()):
            value = outcome(parse_strict, text, case.get("depth_from", "root"))
            yield f"strict: {case['name']}", canonical(value).decode(), case["canonical"]
    for case in vectors["refused"]:
        # A parser of a library does not tell the place, so that the kind alone is compared.
        text = bytes.fromhex(case["hex"]) if "hex" in case else case["text"]
        yield f"refused: {case['name']}", outcome(parse_strict, text, case.get("depth_from", "root")), case["code"]


def identity_cases():
    vectors = load("addresses")
    for case in vectors["valid"]:
        key = bytes.fromhex(case["public_key_hex"])
        made = (encode_address(key), decode_address(case["address"]))
        yield f"address {case['address']}", made, (case["address"], key)
    for case in vectors["invalid"]:
        text = case["address"] if "address" in case else case["repeat"]["text"] * case["repeat"]["times"]
        yield f"address {case['name']}", outcome(decode_address, text), case["code"]
    for case in vectors["keys_without_address"]:
        key = bytes.fromhex(case["public_key_hex"])
        yield f"no address {key.hex()}", outcome(encode_address, key), case["code"]
    vectors = load("names")
    for case in vectors["derived"]:
        key = bytes.fromhex(case["public_key_hex"])
        words = word_name(key, len(case["words"]) - 2)
        yield f"words of {key.hex()}", words, "-".join(case["words"])
        for named in case["names"]:
            yield f"name of {key.hex()}", word_name(key, named["adjectives"]), named["name"]
    for case in vectors["checks"]:
        key = bytes.fromhex(case["public_key_hex"])
        yield f"name: {case['name']}", is_word_name_of(case["word_name"], key), case["is_name"]


def request_cases():
    vectors = load("canonical_strings")
    key = SigningKey(bytes.fromhex(vectors["key"]["private_key_hex"]))
    for case in vectors["signed"]:
        body_hash = sha256_hex(bytes.fromhex(case["body_hex"]))
        text = f"relay:v1:{case['method']}:{case['path']}:{body_hash}:{case['timestamp']}"
        signature = base64.b64encode(key.sign(text.encode()).signature).decode()
        yield f"signs {text}", (text, signature), (case["canonical_string"], case["signature"])
        parts = {field: case[field] for field in ("method", "path", "timestamp")}
        yield f"parts of {text}", parse_canonical_string(text), parts | {"body_hash": body_hash}
    for case in vectors["malformed"]:
        yield f"canonical string: {case['name']}", parse_canonical_string(case["text"]), None


def message_cases():
    for case in load("messages")["cases"]:
        message = json.loads(case["message_text"]) if "message_text" in case else case["message"]
        options = case["options"]
        request = options.get("request_hex")
        try:
            answer = verify_message(
                message,
                recipient=options.get("recipient"),
                sender=options.get("from"),
                request=None if request is None else bytes.fromhex(request),
                max_skew_seconds=options.get("max_skew_seconds"),
            )
        except MessageRefusal as refusal:
            answer = {"code": refusal.code, "field": refusal.field}
        yield f"message: {case['name']}", answer, case.get("report", case.get("error"))


def double(bits_hex):
    return struct.unpack(">d", bytes.fromhex(bits_hex))[0]


def canonical_refuses(value):
    try:
        canonical(value)
        return False
    except ValueError:
        return True


def main():
    passed = failed = 0
    for group in (signature_cases, json_cases, identity_cases, request_cases, message_cases):
        for name, answer, expected in group():
            if answer == expected:
                passed += 1
            else:
                failed += 1
                print(f"{name}\n  got      {answer}\n  expected {expected}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
