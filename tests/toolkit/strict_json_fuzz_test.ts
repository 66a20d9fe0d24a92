import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { JsonError, parseStrict } from "../../toolkit/mod.ts";
import { readSlowly } from "./slow_json.ts";
import { isLong } from "../support/long_test.ts";
import fc from "../support/seeded_fast_check.ts";

const MAX_DEPTH = 4;
const TEXTS = isLong ? 20_000 : 5_000;

/** Pieces of JSON and of near-JSON that, put together, are often nearly right. */
const PIECES = [
  ...'{}[],: "\\\n\t01-.eE+a\u00e9\u{1f600}\ufeff\u007f\u2028\v',
  ...["true", "false", "null", "nul", "NaN", "[]", "{}", '""', '"a"', '"a":', '"\\u0061":', "1,"],
  ...['"b":1', ',"b":2', "\\u00", "\\ud83d", "\\ude00", "\\n", "\\/", "\\'", "//", "\ud800"],
  ...["9007199254740991", "9007199254740992", "1e21", "1e20", "999999999999999900000", "1e400"],
  ...["1e-400", "-0", "00", "0.1", ".1", "1.", "0x1", '{"a":', '"__proto__":1', "[[", "]]"],
];

const nearlyJson = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 })
  .map((pieces) => pieces.join(""));

/** A valid text with some of its characters replaced, removed or doubled. */
const damagedJson = fc.tuple(
  fc.json({ maxDepth: 5, stringUnit: "binary" }),
  fc.array(fc.tuple(fc.nat(), fc.constantFrom(...PIECES, ""), fc.nat(2)), { maxLength: 3 }),
).map(([text, edits]) => {
  for (const [at, piece, removed] of edits) {
    const i = at % (text.length + 1);
    text = text.slice(0, i) + piece + text.slice(i + removed);
  }
  return text;
});

function read(text: string | Uint8Array): { value: unknown } | undefined {
  try {
    return { value: parseStrict(text, { maxDepth: MAX_DEPTH }) };
  } catch (thrown) {
    if (thrown instanceof JsonError) return undefined;
    throw thrown;
  }
}

Deno.test("parseStrict() and a slow reader accept the same texts and read the same values", () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof(nearlyJson, damagedJson), (text) => {
      const expected = readSlowly(text, MAX_DEPTH);
      deepEqual(read(text), expected);
      if (text.isWellFormed()) deepEqual(read(new TextEncoder().encode(text)), expected);
      if (expected !== undefined) {
        deepEqual(expected.value, JSON.parse(text));
        accepted++;
      }
    }),
    { numRuns: TEXTS },
  );
  equal(accepted > TEXTS / 20, true, `only ${accepted} texts were valid`);
});

Deno.test("parseStrict() accepts bytes exactly when they are UTF-8", () => {
  const byte = fc.oneof(fc.nat(255), fc.constantFrom(0xc3, 0xe2, 0xed, 0xf0, 0x80, 0x9f, 0xbf));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 6 }), (inside) => {
      const bytes = Uint8Array.from([0x22, ...inside, 0x22]);
      const text = new TextDecoder().decode(bytes);
      const isUtf8 = !text.includes("\ufffd") ||
        new TextEncoder().encode(text).join() === bytes.join();
      deepEqual(read(bytes), isUtf8 ? readSlowly(text, MAX_DEPTH) : undefined);
    }),
    { numRuns: TEXTS / 4 },
  );
});
