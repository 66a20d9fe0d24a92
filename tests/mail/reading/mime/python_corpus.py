"""What Python's parser shows of the messages of a folder, as JSON: see python_corpus_test.ts."""
import email
import email.policy
import json
import os
import sys


def text_of(message):
    """Every part that is shown: the plain text of alternatives, else their HTML."""
    shown = []

    def walk(part, parent):
        kind = part.get_content_type()
        if part.is_multipart() and kind.startswith("multipart/"):
            parts = list(part.iter_parts())
            if kind == "multipart/alternative":
                plain = [one for one in parts if one.get_content_type() == "text/plain"]
                parts = plain[:1] or parts[-1:]
            elif kind == "multipart/related":
                parts = parts[:1]
            for one in parts:
                walk(one, part)
            return
        if kind not in ("text/plain", "text/html") or part.is_attachment():
            return
        if shown and part.get_filename():
            return
        shown.append((kind, part.get_content()))

    walk(message, None)
    return shown


def describe(path):
    with open(path, "rb") as file:
        message = email.message_from_binary_file(file, policy=email.policy.default)
    try:
        shown = text_of(message)
    except Exception as error:  # what it cannot read is told by name
        return {"failed": type(error).__name__}
    subject = message.get("subject")
    return {
        "subject": None if subject is None else str(subject),
        "types": sorted({kind for kind, _ in shown}),
        "words": " ".join(text for _, text in shown).split(),
    }


folder = sys.argv[1]
print(json.dumps({
    name: describe(os.path.join(folder, name))
    for name in sorted(os.listdir(folder))
    if name.startswith("msg_")
}))
