import { deepStrictEqual as deepEqual, ok, strictEqual as equal, throws } from "node:assert/strict";
import { JsonError } from "./json_error.ts";
import { parseStrict } from "./parse_strict.ts";
import fc from "../tests/support/seeded_fast_check.ts";

function errorOf(text: string | Uint8Array, options = {}): JsonError {
  try {
    parseStrict(text, options);
  } catch (thrown) {
    if (thrown instanceof JsonError) return thrown;
    throw thrown;
  }
  throw new Error("nothing was thrown");
}

Deno.test("parseStrict() gives what JSON.parse gives", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 1, "\t"), (text, space) => {
      const spaced = JSON.stringify(JSON.parse(text), null, space);
      fc.pre(!/\d{16}|e\+(1[6-9]|20)\b|\\ud[89a-f]/i.test(spaced));
      deepEqual(parseStrict(spaced), JSON.parse(spaced));
    }),
  );
});

Deno.test("parseStrict() keeps a member named __proto__ as an own property", () => {
  const value = parseStrict('{"__proto__":{"polluted":1}}') as Record<string, unknown>;
  deepEqual(Object.keys(value), ["__proto__"]);
  equal(value.polluted, undefined);
  equal(Object.getPrototypeOf(value), Object.prototype);
});

Deno.test("parseStrict() tells the place in bytes, lines and columns, and what is allowed", () => {
  const error = errorOf('{\n  "é😀": 1,\n  "b": 1e999\n}');
  deepEqual(error.position, { offset: 24, line: 3, column: 8 });
  equal(error.message, "a number is too large for a 64-bit double (line 3, column 8, byte 24)");
  equal(error.name, "JsonError");
});

Deno.test("parseStrict() tells the place in bytes that are not UTF-8", () => {
  const error = errorOf(Uint8Array.from([0x5b, 0x0a, 0x22, 0xc3, 0xa9, 0xff, 0x22, 0x5d]));
  deepEqual([error.code, error.position], ["invalid_utf8", { offset: 5, line: 2, column: 3 }]);
});

Deno.test("parseStrict() begins the message with what the text is, when told", () => {
  const error = errorOf("[1,]", { where: "inside body" });
  equal(error.message, "inside body: expected a JSON value (line 1, column 4, byte 3)");
  deepEqual([error.code, error.position?.offset], ["syntax", 3]);
});

Deno.test("parseStrict() never quotes the text", () => {
  for (const text of ['{"secret":1,"secret":2}', '["secret" secret]', '"\\ud800secret"']) {
    ok(!errorOf(text).message.includes("secret"));
  }
});

Deno.test("parseStrict() counts depth from the root or from inside it, up to maxDepth", () => {
  parseStrict("[[]]", { maxDepth: 2 });
  throws(() => parseStrict("[[[]]]", { maxDepth: 2 }), { code: "too_deep" });
  parseStrict('{"a":[[]]}', { maxDepth: 2, depthFrom: "members" });
  throws(() => parseStrict('{"a":[[[]]]}', { maxDepth: 2, depthFrom: "members" }), {
    code: "too_deep",
  });
  parseStrict("1", { maxDepth: 0 });
  throws(() => parseStrict("[]", { maxDepth: 0 }), { code: "too_deep" });
  equal(
    errorOf("[".repeat(65)).message,
    "at most 64 arrays and objects may be nested (line 1, column 65, byte 64)",
  );
});

Deno.test("parseStrict() finds a repeated name among very many", () => {
  const members = Array.from({ length: 20_000 }, (_, i) => `"k${i}":0`);
  parseStrict(`{${members.join()}}`);
  throws(() => parseStrict(`{${members.join()},"k19999":1}`), { code: "duplicate_name" });
});

Deno.test("parseStrict() reads a number as far as the grammar goes, and judges it there", () => {
  const cases: [string, string, number][] = [
    ["9007199254740993.", "syntax", 17],
    ["9007199254740993e", "syntax", 17],
    ["9007199254740993x", "unsafe_integer", 0],
    ["9007199254740993.5", "unsafe_integer", 0],
    ["1e400e", "number_overflow", 0],
    ["1e400.5", "number_overflow", 0],
    ["01", "syntax", 0],
    ["-", "syntax", 1],
  ];
  for (const [text, code, offset] of cases) {
    const error = errorOf(text);
    deepEqual([error.code, error.position?.offset], [code, offset], text);
  }
});

Deno.test("parseStrict() looks at the whole text before it looks at its beginning", () => {
  throws(() => parseStrict(Uint8Array.of(0xef, 0xbb, 0xbf, 0xff)), { code: "invalid_utf8" });
  throws(() => parseStrict("\ufeff{\ud800"), { code: "lone_surrogate" });
  throws(() => parseStrict("x\ud800"), { code: "lone_surrogate" });
});
