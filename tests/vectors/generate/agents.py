"""The keys that the vectors are signed with. Their seeds are public: never use them elsewhere."""

import hashlib

import base58
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class Agent:
    def __init__(self, name):
        self.seed = hashlib.sha256(f"relay test vector {name}".encode()).digest()
        self.key = Ed25519PrivateKey.from_private_bytes(self.seed)
        self.public_key = self.key.public_key().public_bytes_raw()
        self.address = base58.b58encode(self.public_key).decode()

    def sign(self, text):
        return self.key.sign(text.encode())

    def as_json(self):
        return {
            "private_key_hex": self.seed.hex(),
            "public_key_hex": self.public_key.hex(),
            "address": self.address,
        }


SENDER = Agent("sender")
RECIPIENT = Agent("recipient")
OTHER = Agent("other")
