"""What talon's own tests expect of a reply, as JSON: [{name, type, body, expected}].

The argument is the folder of its source. Its tests run against a talon that answers each question with
a token of its own, so that what they compare with that is what they expect.
"""

import contextlib
import email.iterators
import inspect
import io
import json
import os
import re
import sys
import types

ROOT = sys.argv[1]
TOKEN = re.compile("\ue000(\\d+)\ue001")
asked = []
found = []
current = ""


class Answer(str):
    def decode(self, *_):
        return self

    def encode(self, *_):
        return self


def ask(kind):
    def answer(body, *_):
        if isinstance(body, bytes):
            body = body.decode("utf-8")
        asked.append((kind, body))
        return Answer("\ue000%d\ue001" % (len(asked) - 1))

    return answer


def tell(expected, actual):
    for one, other in ((expected, actual), (actual, expected)):
        token = TOKEN.search(one) if isinstance(one, str) else None
        if token and isinstance(other, str):
            kind, body = asked[int(token[1])]
            found.append({"name": current, "type": kind, "body": body, "expected": other})
            return


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    made.__path__ = []
    sys.modules[name] = made
    return made


class Patch:
    """Tests that patch what talon is made of ask about that, and not about mail."""

    def __call__(self, *_, **__):
        return lambda function: None

    object = __call__


def read(*names):
    with open(os.path.join(ROOT, "tests", "fixtures", *names), encoding="utf-8") as file:
        return file.read()


quotations = module("talon.quotations", extract_from_plain=ask("plain"), extract_from_html=ask("html"))
utils = module("talon.utils", html_to_text=lambda html: html)
module("talon", quotations=quotations, utils=utils)
module("six", text_type=str, StringIO=io.StringIO)
module("six.moves", range=range)
tests = module(
    "tests", eq_=tell, ok_=lambda *_: None, assert_false=lambda *_: None, patch=Patch(), Mock=lambda **_: None
)
fixtures = module("tests.fixtures", **{
    "STANDARD_REPLIES": os.path.join(ROOT, "tests", "fixtures", "standard_replies"),
    "REPLY_QUOTATIONS_SHARE_BLOCK": read("reply-quotations-share-block.eml"),
    "OLK_SRC_BODY_SECTION": read("OLK_SRC_BODY_SECTION.html"),
    "REPLY_SEPARATED_BY_HR": read("reply-separated-by-hr.html"),
})
os.chdir(ROOT)

for file in ("text_quotations_test", "html_quotations_test"):
    scope = {"__name__": "tests." + file, "__package__": "tests"}
    with open(os.path.join(ROOT, "tests", file + ".py"), encoding="utf-8") as source:
        code = source.read()
    with contextlib.suppress(ImportError):
        exec(compile(code, file, "exec"), scope)
    for name, test in list(scope.items()):
        if not name.startswith("test_") or not callable(test):
            continue
        current = name
        # What talon has no such function for is about its own parts.
        with contextlib.suppress(AttributeError, KeyError, TypeError):
            result = test()
            if inspect.isgenerator(result):
                for check, *arguments in result:
                    current = name + " " + os.path.basename(arguments[2].rsplit(" ", 1)[-1].strip("'"))
                    check(*arguments[:2])

json.dump(found, sys.stdout)
