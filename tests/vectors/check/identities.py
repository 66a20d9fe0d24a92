"""Addresses and word names: docs/verification.md, sections 4 and 5."""

import hashlib
import json
import re
from itertools import count, islice
from pathlib import Path

import base58

LISTS = Path(__file__).parents[3] / "wordlists"
ADJECTIVES, COLORS, ANIMALS = (
    json.loads((LISTS / f"{name}.json").read_text()) for name in ("adjectives", "colors", "animals")
)


class AddressRefusal(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


def encode_address(public_key):
    address = base58.b58encode(public_key).decode()
    if len(address) < 33:
        raise AddressRefusal("wrong_length")
    return address


def decode_address(address):
    if not 33 <= len(address) <= 44:
        raise AddressRefusal("wrong_length")
    if re.fullmatch("[1-9A-HJ-NP-Za-km-z]+", address) is None:
        raise AddressRefusal("not_base58")
    public_key = base58.b58decode(address)
    if len(public_key) != 32:
        raise AddressRefusal("not_32_bytes")
    return public_key


def words_of(public_key):
    digest = hashlib.sha256(public_key).digest()
    for position in count():
        i = position % 16 * 2
        words = COLORS if position == 1 else ANIMALS if position == 2 else ADJECTIVES
        yield words[int.from_bytes(digest[i : i + 2], "big") % 1024]
        if i == 30:
            digest = hashlib.sha256(digest).digest()


def word_name(public_key, adjectives=1):
    return "-".join(islice(words_of(public_key), adjectives + 2))


def is_word_name_of(name, public_key):
    # Of ASCII letters alone: str.lower() turns a Kelvin sign into a k.
    words = re.sub("[A-Z]", lambda letter: letter[0].lower(), name).split("-")
    return len(words) >= 3 and words == list(islice(words_of(public_key), len(words)))


def normal_handle(text):
    match = re.fullmatch("@?([A-Za-z0-9_]{3,32})", text)
    return match and match[1].lower()
