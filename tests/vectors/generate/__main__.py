"""Writes the vectors beside this folder. See ../README.md for the formats.

    pip install -r tests/vectors/generate/requirements.txt
    python3 tests/vectors/generate
"""

import json
from pathlib import Path

import addresses
import canonical_jsons
import canonical_strings
import messages
import names
import published
import strict_jsons
import strict_signatures

FILES = {
    "addresses": addresses,
    "canonical_json": canonical_jsons,
    "canonical_strings": canonical_strings,
    "ed25519_strict": strict_signatures,
    "messages": messages,
    "names": names,
    "strict_json": strict_jsons,
}


def main():
    folder = Path(__file__).parent.parent
    published.check(folder)
    for name, module in FILES.items():
        text = json.dumps(module.vectors(), indent=2, ensure_ascii=True)
        (folder / f"{name}.json").write_text(text + "\n")
        print(f"wrote {name}.json")


if __name__ == "__main__":
    main()
