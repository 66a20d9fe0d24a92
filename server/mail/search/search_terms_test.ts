import assert from "node:assert/strict";
import { termsOf } from "./search_terms.ts";

Deno.test("termsOf() splits at white space, and keeps phrases in double quotes", () => {
  const cases: [q: string, terms: string[][]][] = [
    ["", []],
    ["  \t ", []],
    ["!!! ...", []],
    ["Red blue", [["red"], ["blue"]]],
    ['"red blue" green', [["red", "blue"], ["green"]]],
    ['a"b c"d', [["a"], ["b", "c"], ["d"]]],
    ['""', []],
    ['red "blue', [["red"], ["blue"]]],
    ['"red blue" "green grey', [["red", "blue"], ["green"], ["grey"]]],
    ["foo-bar ann@example.org", [["foo", "bar"], ["ann", "example", "org"]]],
    ["red AND -blue OR gr*", [["red"], ["and"], ["blue"], ["or"], ["gr"]]],
    ["日本語", [["日本", "本語"]]],
  ];
  for (const [q, terms] of cases) assert.deepEqual(termsOf(q), terms, q);
});

Deno.test("termsOf() takes 500 characters, whatever they are", () => {
  assert.equal(termsOf("a ".repeat(250)).length, 250);
  assert.equal(termsOf("\u{1d400}".repeat(500)).length, 1);
  assert.throws(() => termsOf("a".repeat(501)), { code: "invalid_json", message: /500/ });
});
