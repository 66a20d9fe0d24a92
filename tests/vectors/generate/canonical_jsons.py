"""Canonical JSON: RFC 8785 with its own examples, and what else tends to differ."""

import hashlib
import json
import random
import struct

import rfc8785


def parse(text):
    """Every number as a double, as RFC 8785 has them."""
    return json.loads(text, parse_int=float)


def canonical(value):
    return rfc8785.dumps(value).decode()


# RFC 8785, sections 3.2.2 and 3.2.3: the input and the output that the RFC prints.
RFC_DOCUMENTS = [
    (
        "RFC 8785 3.2.2",
        r'''{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}''',
        r'''{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"'''
        + "\u20ac"
        + r'''$\u000f\nA'B\"\\\\\"/"}''',
    ),
    (
        "RFC 8785 3.2.3",
        r'''{
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
}''',
        '{"\\r":"Carriage Return","1":"One","\u0080":"Control",'
        '"\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign",'
        '"\U0001f600":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ),
]

OWN_DOCUMENTS = [
    ("a text", '"hello"'),
    ("null", "null"),
    ("empty containers", '{"b":[],"a":{}}'),
    ("empty names and strings", '{"":""}'),
    ("nested sorting", '{"b":{"d":1,"c":2},"a":[{"z":0,"y":[3,2,1]}]}'),
    ("names that are numbers sort as text", '{"10":1,"9":2,"2":3,"1":4}'),
    ("capitals before small letters", '{"a":1,"B":2,"A":3,"_":4}'),
    ("names by UTF-16 code units, not code points", '{"\ue000":1,"\U00010000":2,"\uffff":3}'),
    ("a member named __proto__", '{"a":1,"__proto__":{"x":[1]},"constructor":2}'),
    ("a member named toJSON", '{"toJSON":"text","toString":null}'),
    ("minus zero", "[-0,-0.0,0e5,-0e-5]"),
    ("underflow", "[1e-400,-1e-400,4.9e-324]"),
    ("trailing zeros and exponents", "[1.0,1e0,100e-2,1E+2,1.50]"),
    ("the largest safe integers", "[9007199254740991,-9007199254740991]"),
    ("whole numbers from 1e21 on", "[1e21,1.5e300,-1e21]"),
    ("every short escape", r'"\b\t\n\f\r\"\\\/"'),
    ("every control character", '"' + "".join(f"\\u{i:04X}" for i in range(32)) + '\\u007f"'),
    ("separators and bidi controls stay as they are", '"\u2028\u2029\u202e\u00ad\ufeff"'),
    ("not normalised", '["\u00e9","e\u0301","\u212b"]'),
    ("a surrogate pair by escapes", r'"\ud83d\ude00\uD834\uDD1E"'),
    ("a message", '{"text":"hi","subject":"greeting","extra":[1,{"b":null,"a":true}]}'),
]

# RFC 8785, appendix B: IEEE 754 bits and the text that the RFC prints for them.
RFC_NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}

NOT_NUMBERS = {"NaN": "7fffffffffffffff", "Infinity": "7ff0000000000000", "-Infinity": "fff0000000000000"}


def double(bits):
    return struct.unpack(">d", bytes.fromhex(bits))[0]


def more_bits():
    """Powers of ten and of two with their neighbours, and doubles drawn by a fixed seed."""
    near = [10.0**e for e in range(-324, 309, 9)] + [2.0**e for e in range(-1074, 1024, 37)]
    for value in near:
        middle = struct.unpack(">Q", struct.pack(">d", value))[0]
        yield from (f"{bits:016x}" for bits in (middle - 1, middle, middle + 1) if bits >= 0)
    draw = random.Random(8785)
    for _ in range(200):
        bits = draw.getrandbits(64)
        if bits >> 52 & 0x7FF != 0x7FF:
            yield f"{bits:016x}"


def vectors():
    documents = []
    for name, text, printed in RFC_DOCUMENTS:
        assert canonical(parse(text)) == printed, name
    for name, text in [(name, text) for name, text, _ in RFC_DOCUMENTS] + OWN_DOCUMENTS:
        output = canonical(parse(text))
        digest = hashlib.sha256(output.encode()).hexdigest()
        documents.append({"name": name, "json": text, "canonical": output, "sha256": digest})
    numbers = []
    for bits, printed in RFC_NUMBERS.items():
        assert canonical(double(bits)) == printed, bits
        numbers.append({"bits_hex": bits, "canonical": printed})
    seen = set(RFC_NUMBERS)
    for bits in more_bits():
        if bits not in seen:
            seen.add(bits)
            numbers.append({"bits_hex": bits, "canonical": canonical(double(bits))})
    return {
        "documents": documents,
        "numbers": numbers,
        "refused_numbers": [{"name": name, "bits_hex": bits} for name, bits in NOT_NUMBERS.items()],
    }
