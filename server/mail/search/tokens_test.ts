import assert from "node:assert/strict";
import fc from "../../../tests/support/seeded_fast_check.ts";
import { fold, tokensOf } from "./tokens.ts";

const valuesOf = (text: string) => Array.from(tokensOf(text), ({ value }) => value);

Deno.test("tokensOf() gives runs of letters, numbers and marks, folded", () => {
  const cases: [text: string, tokens: string[]][] = [
    ["", []],
    ["... -- !?", []],
    ["Hello, World 2026", ["hello", "world", "2026"]],
    ["ann.lee@example.org", ["ann", "lee", "example", "org"]],
    ["foo_bar", ["foo", "bar"]],
    ["Crème BRÛLÉE Ångström", ["creme", "brulee", "angstrom"]],
    ["cafe\u0301 \u0130stanbul", ["cafe", "istanbul"]],
    ["\uff21\uff22\uff23 \ufb01ne \u2460", ["abc", "fine", "1"]],
    ["\u03a3\u039f\u03a6\u039f\u03a3", ["\u03c3\u03bf\u03c6\u03bf\u03c3"]],
    ["5 \u338f", ["5", "kg"]],
    ["Привет, ЁЛКА", ["привет", "елка"]],
    ["\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd", ["\u05e9\u05dc\u05d5\u05dd"]],
    ["\ud83c\udf89party\ud83c\udf89", ["party"]],
  ];
  for (const [text, tokens] of cases) assert.deepEqual(valuesOf(text), tokens, text);
});

Deno.test("tokensOf() cuts scripts without spaces into overlapping pairs", () => {
  const cases: [text: string, tokens: string[]][] = [
    ["日本語", ["日本", "本語"]],
    ["日", ["日"]],
    ["東京tower", ["東京", "tower"]],
    ["iPhone日本語版", ["iphone", "日本", "本語", "語版"]],
    ["コーヒー", ["コー", "ーヒ", "ヒー"]],
    ["ｺｰﾋｰ", ["コー", "ーヒ", "ヒー"]],
    ["한국어", ["한국", "국어"]],
    ["が", ["が"]],
    ["สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]],
    ["\u{20000}\u{20001}", ["\u{20000}\u{20001}"]],
  ];
  for (const [text, tokens] of cases) assert.deepEqual(valuesOf(text), tokens, text);
});

Deno.test("tokensOf() folds NFC and NFD, upper and lower case alike", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => {
    assert.deepEqual(valuesOf(text.normalize("NFD")), valuesOf(text.normalize("NFC")));
  }));
});

Deno.test("tokensOf() says where tokens stand, in the text as it is", () => {
  const text = "The Crème, 日本語";
  const at = Array.from(tokensOf(text), ({ value, start, end }) => [value, text.slice(start, end)]);
  assert.deepEqual(at, [["the", "The"], ["creme", "Crème"], ["日本", "日本"], ["本語", "本語"]]);
  const anyText = fc.array(fc.nat(0x10ffff)).map((points) => String.fromCodePoint(...points));
  fc.assert(fc.property(anyText, (any) => {
    let before = 0;
    for (const { value, start, end } of tokensOf(any)) {
      assert.ok(before <= start && start < end && end <= any.length && value !== "");
      before = start;
    }
  }));
});

Deno.test("tokensOf() takes steps of bounded length, whatever a text is", () => {
  for (
    const long of ["a", "\u65e5", "\ufdfa", "\u0301", "\u{1d400}"].map((c) => c.repeat(20_000))
  ) {
    let longestMs = 0;
    let lastMs = performance.now();
    for (const _ of tokensOf(long)) {
      longestMs = Math.max(longestMs, performance.now() - lastMs);
      lastMs = performance.now();
    }
    assert.ok(longestMs < 100, `${longestMs}`);
  }
});

Deno.test("fold() gives a text that holds every token", () => {
  const letters = fc.string({
    unit: fc.constantFrom(..."aZé\u0301\u03a3'. =\u0338日ｶﾞがﬁ㎏가\u0e31"),
  });
  fc.assert(
    fc.property(letters, (text) => {
      const folded = fold(text);
      assert.ok(valuesOf(text).every((value) => folded.includes(value)), text);
    }),
    { numRuns: 1_000 },
  );
});
