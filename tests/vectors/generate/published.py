"""Checks the published vectors, which are kept as they were published, not generated."""

import json

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from strict_signatures import libsodium_accepts


def check(folder):
    for case in json.loads((folder / "rfc8032.json").read_text())["signatures"]:
        key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(case["private_key_hex"]))
        assert key.public_key().public_bytes_raw().hex() == case["public_key_hex"], case["name"]
        assert key.sign(bytes.fromhex(case["message_hex"])).hex() == case["signature_hex"], case["name"]
    for case in json.loads((folder / "ed25519_speccheck.json").read_text())["signatures"]:
        message, signature, public_key = (
            bytes.fromhex(case[field]) for field in ("message_hex", "signature_hex", "public_key_hex")
        )
        assert libsodium_accepts(message, signature, public_key) == case["valid"], case["name"]
