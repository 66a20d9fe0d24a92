import assert from "node:assert/strict";
import vectors from "../../../tests/vectors/mail/codes.json" with { type: "json" };
import { findCodes, MAX_CODES } from "./codes.ts";

Deno.test("findCodes() finds the codes of mails in eight languages and more", () => {
  assert.ok(vectors.codes.length >= 40);
  assert.ok(new Set(vectors.codes.map(({ language }) => language)).size >= 8);
  const wrong = vectors.codes
    .map(({ subject, text, codes }) => ({ subject, text, codes, found: findCodes(subject, text) }))
    .filter(({ codes, found }) => JSON.stringify(codes) !== JSON.stringify(found));
  assert.deepEqual(wrong, []);
});

Deno.test("findCodes() finds none in what only looks like one", () => {
  assert.ok(vectors.lookalikes.length >= 40);
  const wrong = vectors.lookalikes
    .map(({ subject, text }) => ({ subject, text, found: findCodes(subject, text) }))
    .filter(({ found }) => found.length > 0);
  assert.deepEqual(wrong, []);
});

Deno.test("findCodes() counts 60 characters from the word on both sides", () => {
  const values = (text: string) => findCodes(null, text).map(({ value }) => value);
  assert.deepEqual(values(`code ${"-".repeat(58)} 482913`), ["482913"]);
  assert.deepEqual(values(`code ${"-".repeat(59)} 482913`), []);
  assert.deepEqual(values(`482913 ${"-".repeat(58)} code`), ["482913"]);
  assert.deepEqual(values(`482913 ${"-".repeat(59)} code`), []);
});

Deno.test("findCodes() gives each code once, and five at most", () => {
  const many = Array.from({ length: 9 }, (_, i) => `code ${1000 + i * 7}1`).join("\n");
  assert.equal(findCodes(null, many).length, MAX_CODES);
  assert.deepEqual(findCodes("Code 482913", "Your code is 482 913, again: code 482913"), [
    { value: "482913", kind: "numeric" },
  ]);
});

Deno.test("findCodes() gives digits alone, as they are pasted", () => {
  assert.deepEqual(findCodes("G-482913 is your code", ""), [{ value: "482913", kind: "numeric" }]);
  assert.deepEqual(findCodes(null, "code: 4829-1355"), [{ value: "48291355", kind: "numeric" }]);
  assert.deepEqual(findCodes(null, "code: 12 34 56"), []);
});
