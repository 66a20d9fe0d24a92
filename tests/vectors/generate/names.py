"""Word names: service specification 2.1, with hashlib and the frozen lists."""

import hashlib
import json
from pathlib import Path

from agents import OTHER, RECIPIENT, SENDER

LISTS = Path(__file__).parents[3] / "wordlists"
ADJECTIVES, COLORS, ANIMALS = (
    json.loads((LISTS / f"{name}.json").read_text()) for name in ("adjectives", "colors", "animals")
)

# Three digests of 16 chunks and two chunks of a fourth.
WORDS = 50


def words(public_key, count):
    found = []
    digest = hashlib.sha256(public_key).digest()
    while len(found) < count:
        for i in range(0, 32, 2):
            index = int.from_bytes(digest[i : i + 2], "big") % 1024
            position = len(found)
            found.append((COLORS if position == 1 else ANIMALS if position == 2 else ADJECTIVES)[index])
        digest = hashlib.sha256(digest).digest()
    return found[:count]


def word_name(public_key, adjectives=1):
    return "-".join(words(public_key, adjectives + 2))


def vectors():
    keys = [agent.public_key for agent in (SENDER, RECIPIENT, OTHER)]
    keys += [bytes(31) + b"\x01", b"\xff" * 32, bytes(range(32))]
    derived = []
    for key in keys:
        listed = words(key, WORDS)
        derived.append(
            {
                "public_key_hex": key.hex(),
                "words": listed,
                "names": [
                    {"adjectives": n, "name": "-".join(listed[: n + 2])}
                    for n in (1, 2, 3, 13, 14, 15, 30, 31, 46, 48)
                ],
            }
        )
    sender = words(SENDER.public_key, 20)
    swapped = [sender[0], sender[2], sender[1]]
    checks = [
        ("the short name", sender[:3], True),
        ("one extra adjective", sender[:4], True),
        ("seventeen extra adjectives, past the first digest", sender[:20], True),
        ("capitals", [word.upper() for word in sender[:3]], True),
        ("two words", sender[:2], False),
        ("one word", sender[:1], False),
        ("nothing", [""], False),
        ("color and animal swapped", swapped, False),
        ("a wrong extra adjective", [*sender[:3], sender[4]], False),
        ("an extra adjective in front, not at the end", [sender[3], *sender[:3]], False),
        ("a trailing hyphen", [*sender[:3], ""], False),
        ("a leading hyphen", ["", *sender[:3]], False),
        ("space before it", [f" {sender[0]}", *sender[1:3]], False),
        ("the name of another key", words(RECIPIENT.public_key, 3), False),
        ("a Kelvin sign for k", ["-".join(sender[:3]).replace("k", "\u212a") + "\u212a"], False),
    ]
    return {
        "derived": derived,
        "checks": [
            {
                "name": name,
                "word_name": "-".join(parts),
                "public_key_hex": SENDER.public_key.hex(),
                "is_name": is_name,
            }
            for name, parts, is_name in checks
        ],
    }
