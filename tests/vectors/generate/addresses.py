"""Addresses: base58 of 32 bytes, 33 to 44 characters."""

import base58

from agents import RECIPIENT, SENDER


def vectors():
    keys = [
        SENDER.public_key,
        RECIPIENT.public_key,
        b"\xff" * 32,
        bytes(range(32)),
        bytes([0, 0, 0]) + b"\xff" * 29,
        bytes(26) + b"\xff" * 6,
        bytes(31) + b"\x3a",
    ]
    valid = [{"public_key_hex": key.hex(), "address": base58.b58encode(key).decode()} for key in keys]
    assert {len(case["address"]) for case in valid} >= {33, 44}
    good = SENDER.address
    invalid = [
        ("empty", "", "wrong_length"),
        ("a handle", "some_agent", "wrong_length"),
        ("32 characters, though base58 of 32 bytes", base58.b58encode(bytes(32)).decode(), "wrong_length"),
        ("45 characters", "1" * 45, "wrong_length"),
        ("a million characters", "z" * 1_000_000, "wrong_length"),
        ("31 bytes", base58.b58encode(b"\xff" * 31 ).decode() , "not_32_bytes"),
        ("33 bytes", base58.b58encode(bytes(1) + b"\x70" + b"\xff" * 31).decode()[:44], "not_32_bytes"),
        ("a zero", "0" + good[1:], "not_base58"),
        ("a capital O", "O" + good[1:], "not_base58"),
        ("a capital I", good[:-1] + "I", "not_base58"),
        ("a small l", good[:-1] + "l", "not_base58"),
        ("space before it", " " + good[1:], "not_base58"),
        ("a line feed after it", good[:-1] + "\n", "not_base58"),
        ("a letter outside ASCII", good[:-1] + "\u0142", "not_base58"),
    ]
    cases = []
    for name, address, code in invalid:
        if code == "not_32_bytes":
            assert 33 <= len(address) <= 44 and len(base58.b58decode(address)) != 32, name
        if len(address) == 1_000_000:
            cases.append({"name": name, "repeat": {"text": "z", "times": 1_000_000}, "code": code})
        else:
            cases.append({"name": name, "address": address, "code": code})
    short = bytes(32)
    return {
        "valid": valid,
        "invalid": cases,
        "keys_without_address": [{"public_key_hex": short.hex(), "code": "wrong_length"}],
    }
