import assert from "node:assert/strict";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import { removeInvisible } from "./invisible_characters.ts";

Deno.test("removeInvisible() removes and reports what nobody sees", () => {
  const texts = [
    "a\u{e0041}b",
    "a\u{e0000}\u{e007f}b",
    "a\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}b",
    "a\u202eb",
    "a\u202a\u202cb",
    "a\u2066\u2069b",
    "a\u200b\u200bb",
    "a\u200b\u200c\u200d\u2060\ufeffb",
    "a\u200b\u202e\u200bb",
    "a\ufe00\ufe01\ufe02b",
    "a\u{e0100}\u{e0101}b",
  ];
  assert.ok(texts.length > 0);
  for (const text of texts) assert.deepEqual(removeInvisible(text), { text: "ab", removed: true });
});

Deno.test("removeInvisible() keeps what has a meaning", () => {
  const texts = [
    "plain text, Größe, 日本語",
    "👨‍👩‍👧 👩🏽‍🚀 🏳️‍🌈 ❤️‍🔥 1️⃣",
    "می‌خواهم",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}!",
    "क्‍ष",
    "葛\u{e0100}城",
    "\ufeffbegin",
    "a\u200fb",
    "lone \ud800 surrogate",
  ];
  assert.ok(texts.length > 0);
  for (const text of texts) assert.deepEqual(removeInvisible(text), { text, removed: false });
});

Deno.test("removeInvisible() leaves nothing that a second time would remove", () => {
  const chars = fc.constantFrom("a", "\u200b", "\u200d", "\u202e", "\ufe0f", "\u{e0101}", "👨");
  fc.assert(fc.property(fc.array(chars), (given) => {
    const { text } = removeInvisible(given.join(""));
    assert.deepEqual(removeInvisible(text), { text, removed: false });
  }));
});
