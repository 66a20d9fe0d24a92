"""Verifies signatures with dkimpy: a folder of N.eml and the TXT record in, a list of verdicts out."""
import json
import pathlib
import sys

import dkim

folder, name, record = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]


def lookup(asked, timeout=5):
    return record.encode() if asked.rstrip(b".") == name.encode() else None


def verify(data):
    try:
        return dkim.DKIM(data).verify(dnsfunc=lookup)
    except dkim.DKIMException as error:
        return str(error)


files = sorted(folder.glob("*.eml"), key=lambda file: int(file.stem))
print(json.dumps([verify(file.read_bytes()) for file in files]))
