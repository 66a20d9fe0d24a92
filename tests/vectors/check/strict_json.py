"""Strict JSON by the standard library's parser and its hooks: docs/verification.md, section 2."""

import json
import math


class JsonRefusal(Exception):
    """Text that is not strict JSON; `code` says why."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def parse_strict(text, depth_from="root", max_depth=64):
    """The value of bytes or a string; every number is a float, as RFC 8785 has them."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8", "strict")
        except UnicodeDecodeError:
            raise JsonRefusal("invalid_utf8") from None
    if text.startswith("\ufeff"):
        raise JsonRefusal("byte_order_mark")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_number,
            parse_float=_number,
            parse_constant=_constant,
        )
    except json.JSONDecodeError:
        raise JsonRefusal("syntax") from None
    except RecursionError:
        raise JsonRefusal("too_deep") from None
    _check(value, max_depth + (1 if depth_from == "members" else 0))
    return value


def _object(pairs):
    members = dict(pairs)
    if len(members) < len(pairs):
        raise JsonRefusal("duplicate_name")
    return members


def _number(text):
    value = float(text)
    if math.isinf(value):
        raise JsonRefusal("number_overflow")
    if value.is_integer() and 2**53 <= abs(value) < 1e21:
        raise JsonRefusal("unsafe_integer")
    return value


def _constant(_name):
    raise JsonRefusal("syntax")  # NaN, Infinity, -Infinity


def _check(value, containers_left):
    if isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise JsonRefusal("lone_surrogate")
    elif isinstance(value, (list, dict)):
        if containers_left == 0:
            raise JsonRefusal("too_deep")
        for child in [*value, *(value.values() if isinstance(value, dict) else ())]:
            _check(child, containers_left - 1)
