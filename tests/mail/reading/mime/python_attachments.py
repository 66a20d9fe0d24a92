"""Prints name, type, size and SHA-256 of every leaf of the mails in a folder, as Python reads them."""
import hashlib
import json
import os
import sys
from email import message_from_bytes

found = {}
for entry in sorted(os.listdir(sys.argv[1])):
    with open(os.path.join(sys.argv[1], entry), "rb") as file:
        mail = message_from_bytes(file.read())
    leaves = [part for part in mail.walk() if not part.is_multipart()]
    found[entry] = [
        [part.get_filename(), part.get_content_type(), len(data), hashlib.sha256(data).hexdigest()]
        for part in leaves
        for data in [part.get_payload(decode=True)]
    ]
print(json.dumps(found))
