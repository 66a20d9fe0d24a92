"""JSON texts that the strict parser accepts or refuses, with the kind and place of the failure."""

from canonical_jsons import canonical, parse

ACCEPTED = [
    ("space around everything", " \t\r\n{ \"a\" : [ 1 , 2 ] } \n"),
    ("a scalar", "true"),
    ("an empty object", "{}"),
    ("an empty array", "[]"),
    ("an empty string", '""'),
    ("the largest safe integer", "9007199254740991"),
    ("the smallest safe integer", "-9007199254740991"),
    ("the largest safe integer with an exponent", "9007199254740991e0"),
    ("1e21 and above", "[1e21,1000000000000000000000,123456789012345678901234567890,1.7e308]"),
    ("a fraction above 2^52", "4503599627370497.5"),
    ("many digits of a small number", "0.12345678901234567890123456789"),
    ("underflow", "[1e-400,-0.0]"),
    ("minus zero", "-0"),
    ("a leading zero in an exponent", "1e-007"),
    ("a member named __proto__", '{"__proto__":{"a":1},"b":2}'),
    ("equal names in different objects", '[{"a":1},{"a":{"a":2}},{"a":3}]'),
    ("names that differ in case", '{"a":1,"A":2}'),
    ("names that differ in normalisation", '{"\u00e9":1,"e\u0301":2}'),
    ("names that are prefixes", '{"a":1,"aa":2,"":3}'),
    ("a pair by escapes", '"\\ud83d\\ude00"'),
    ("a noncharacter", '"\\uffff\\ufdd0"'),
    ("NUL by escape", '"\\u0000"'),
    ("DEL as it is", '"\x7f"'),
    ("a line separator as it is", '"\u2028"'),
    ("a byte order mark inside a string", '"\ufeff"'),
    ("many members", "{" + ",".join(f'"k{i}":{i}' for i in range(40)) + "}"),
    ("64 arrays", "[" * 64 + "]" * 64),
    ("64 arrays and objects", '{"a":[' * 32 + "]}" * 32),
    ("65 containers, the outermost not counted", '{"body":' + "[" * 64 + "]" * 64 + "}", "members"),
]

# The place of the failure is marked with a paragraph sign.
REFUSED = [
    ("nothing", "\u00b6", "syntax"),
    ("space only", "  \u00b6", "syntax"),
    ("two values", "1 \u00b62", "syntax"),
    ("a comma after the value", "{}\u00b6,", "syntax"),
    ("an open array", "[1\u00b6", "syntax"),
    ("an open object", '{"a":1\u00b6', "syntax"),
    ("an open string", '"abc\u00b6', "syntax"),
    ("a string that ends in a backslash", '"abc\u00b6\\', "syntax"),
    ("a trailing comma in an array", "[1,\u00b6]", "syntax"),
    ("a trailing comma in an object", '{"a":1,\u00b6}', "syntax"),
    ("a leading comma", "[\u00b6,1]", "syntax"),
    ("a missing comma", "[1 \u00b62]", "syntax"),
    ("a missing colon", '{"a" \u00b61}', "syntax"),
    ("a missing value", '{"a":\u00b6}', "syntax"),
    ("brackets that do not match", "[1\u00b6}", "syntax"),
    ("a name without quotes", "{\u00b6a:1}", "syntax"),
    ("a number as a name", "{\u00b61:1}", "syntax"),
    ("single quotes", "\u00b6'a'", "syntax"),
    ("a comment", "[\u00b6/* no */1]", "syntax"),
    ("NaN", "[\u00b6NaN]", "syntax"),
    ("Infinity", "\u00b6Infinity", "syntax"),
    ("undefined", "\u00b6undefined", "syntax"),
    ("True", "\u00b6True", "syntax"),
    ("a cut literal", "\u00b6nul", "syntax"),
    ("a literal with a tail", "true\u00b6x", "syntax"),
    ("a plus sign", "\u00b6+1", "syntax"),
    ("a leading zero", "\u00b601", "syntax"),
    ("a leading zero after minus", "-\u00b601", "syntax"),
    ("minus alone", "-\u00b6", "syntax"),
    ("no digit before the point", "\u00b6.5", "syntax"),
    ("no digit after the point", "1.\u00b6", "syntax"),
    ("no digit in the exponent", "1e\u00b6", "syntax"),
    ("a sign alone in the exponent", "1e+\u00b6", "syntax"),
    ("hexadecimal", "0\u00b6x10", "syntax"),
    ("an underscore in a number", "1\u00b6_000", "syntax"),
    ("a tab in a string", '"a\u00b6\tb"', "syntax"),
    ("a line feed in a string", '"a\u00b6\nb"', "syntax"),
    ("NUL in a string", '"a\u00b6\0b"', "syntax"),
    ("an unknown escape", '"\u00b6\\x41"', "syntax"),
    ("an escaped line feed", '"\u00b6\\\n"', "syntax"),
    ("three hex digits", '"\u00b6\\u12"', "syntax"),
    ("a letter that is no hex digit", '"\u00b6\\u12g4"', "syntax"),
    ("a no-break space outside a string", "[\u00b6\u00a01]", "syntax"),
    ("a vertical tab", "\u00b6\v1", "syntax"),
    ("a byte order mark", "\u00b6\ufeff{}", "byte_order_mark"),
    ("a byte order mark inside", "[\u00b6\ufeff1]", "syntax"),
    ("a name twice", '{"a":1,\u00b6"a":2}', "duplicate_name"),
    ("a name twice, one with an escape", '{"a":1,\u00b6"\\u0061":2}', "duplicate_name"),
    ("a name twice, spelled in two escapes", '{"\\n":1,\u00b6"\\u000A":2}', "duplicate_name"),
    ("an empty name twice", '{"":1,\u00b6"":2}', "duplicate_name"),
    ("__proto__ twice", '{"__proto__":1,\u00b6"__proto__":2}', "duplicate_name"),
    ("a name twice with an object between", '{"a":{"a":1},\u00b6"a":2}', "duplicate_name"),
    ("a name twice far apart", "{" + ",".join(f'"k{i}":0' for i in range(30)) + ',\u00b6"k0":1}', "duplicate_name"),
    ("a name twice after a long string", '["\u20ac\U0001f600",{"a":1,\u00b6"a":2}]', "duplicate_name"),
    ("a high surrogate", '"\u00b6\\ud800"', "lone_surrogate"),
    ("a low surrogate", '"\u00b6\\udc00"', "lone_surrogate"),
    ("a high surrogate before text", '"\u00b6\\uD83Dx"', "lone_surrogate"),
    ("two high surrogates", '"\u00b6\\ud83d\\ud83d"', "lone_surrogate"),
    ("surrogates in the wrong order", '"\u00b6\\ude00\\ud83d"', "lone_surrogate"),
    ("a high surrogate in a name", '{"\u00b6\\ud800":1}', "lone_surrogate"),
    ("a high surrogate before another escape", '"\u00b6\\ud83d\\n"', "lone_surrogate"),
    ("2^53", "\u00b69007199254740992", "unsafe_integer"),
    ("-2^53", "[\u00b6-9007199254740992]", "unsafe_integer"),
    ("2^53 with a fraction that the double loses", "\u00b69007199254740992.1", "unsafe_integer"),
    ("a fraction that rounds to 2^53", "\u00b69007199254740991.9", "unsafe_integer"),
    ("2^53 with an exponent", "\u00b69.007199254740992e15", "unsafe_integer"),
    ("1e20", "\u00b61e20", "unsafe_integer"),
    ("just below 1e21", "\u00b6999999999999999900000", "unsafe_integer"),
    ("a 64-bit id", '{"id":\u00b618446744073709551615}', "unsafe_integer"),
    ("1e309", "\u00b61e309", "number_overflow"),
    ("-1e400", "[0,\u00b6-1e400]", "number_overflow"),
    ("400 digits", "\u00b6" + "9" * 400, "number_overflow"),
    ("an overflow before a broken end", "[\u00b61e400.5]", "number_overflow"),
    ("an overflow before a lone e", "\u00b61e400e", "number_overflow"),
    ("an unsafe integer before a broken end", "[\u00b69007199254740993x]", "unsafe_integer"),
    ("65 arrays", "[" * 64 + "\u00b6[" + "]" * 65, "too_deep"),
    ("65 objects", '{"a":' * 64 + "\u00b6{" + "}" * 65, "too_deep"),
    ("ten thousand arrays, never closed", "[" * 64 + "\u00b6" + "[" * 10_000, "too_deep"),
    ("66 containers, the outermost not counted", '{"body":' + "[" * 64 + "\u00b6[" + "]" * 65 + "}", "too_deep", "members"),
]

REFUSED_BYTES = [
    ("a continuation byte alone", b'"\x80"', 1),
    ("a cut sequence", b'"\xe2\x82"', 1),
    ("a cut sequence at the end", b'"\xe2\x82', 1),
    ("an overlong slash", b'"\xc0\xaf"', 1),
    ("an overlong NUL", b'"\xe0\x80\x80"', 1),
    ("a surrogate in UTF-8", b'"\xed\xa0\x80"', 1),
    ("above U+10FFFF", b'"\xf4\x90\x80\x80"', 1),
    ("a byte that is never valid", b'["\xe2\x82\xac",\xff]', 7),
    ("UTF-16", '"a"'.encode("utf-16-le") + b"\xd8", 6),
    ("Latin-1", '"\u00e9"'.encode("latin-1"), 1),
    ("a byte order mark before what is not UTF-8", b"\xef\xbb\xbf\xff", 3),
]


def vectors():
    accepted = []
    for name, text, *depth in ACCEPTED:
        case = {"name": name, "text": text, "canonical": canonical(parse(text))}
        accepted.append(case | ({"depth_from": depth[0]} if depth else {}))
    refused = []
    for name, marked, code, *depth in REFUSED:
        before, after = marked.split("\u00b6", 1)
        text = before + after
        case = {"name": name, "text": text, "code": code, "offset": len(before.encode())}
        refused.append(case | ({"depth_from": depth[0]} if depth else {}))
    for name, data, offset in REFUSED_BYTES:
        refused.append({"name": name, "hex": data.hex(), "code": "invalid_utf8", "offset": offset})
    refused.append(
        {"name": "a lone surrogate in a string, not in bytes", "text": '"\ud800"', "code": "lone_surrogate", "offset": 1}
    )
    return {"accepted": accepted, "refused": refused}
