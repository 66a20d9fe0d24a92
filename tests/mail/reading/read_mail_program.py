"""Reads messages with Python's own parser: a folder of N.eml in, a list of what they say out."""
import email
import email.policy
import json
import pathlib
import sys


def addresses(message, name):
    field = message[name]
    if field is None:
        return []
    return [{"name": one.display_name or None, "address": one.addr_spec} for one in field.addresses]


def read(data):
    message = email.message_from_bytes(data, policy=email.policy.default)
    defects = [type(defect).__name__ for part in message.walk() for defect in part.defects]
    bodies = {"text/plain": None, "text/html": None}
    attachments = []
    for part in message.walk():
        if part.is_multipart():
            continue
        if part.get_content_disposition() is not None:
            content = part.get_payload(decode=True)
            name = part["content-disposition"].params["filename"]
            attachments.append([name, part.get_content_type(), content.hex()])
        else:
            bodies[part.get_content_type()] = part.get_payload(decode=True).decode("utf-8")
    return {
        "defects": defects,
        "fields": [name.lower() for name in message.keys()],
        "to": addresses(message, "to"),
        "cc": addresses(message, "cc"),
        "replyTo": addresses(message, "reply-to"),
        "subject": message["subject"],
        "text": bodies["text/plain"],
        "html": bodies["text/html"],
        "attachments": attachments,
    }


folder = pathlib.Path(sys.argv[1])
files = sorted(folder.glob("*.eml"), key=lambda file: int(file.stem))
print(json.dumps([read(file.read_bytes()) for file in files]))
