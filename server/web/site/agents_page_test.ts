import assert from "node:assert/strict";
import { cutText } from "./agents_page.ts";

Deno.test("cutText() leaves what fits, and cuts between code points", () => {
  assert.equal(cutText("abc", 3), "abc");
  assert.equal(cutText("abcd", 3), "ab…");
  assert.equal(cutText("\u{1f680}\u{1f680}", 2), "\u{1f680}\u{1f680}");
  assert.equal(cutText("\u{1f680}\u{1f680}\u{1f680}", 2), "\u{1f680}…");
  assert.equal(cutText("", 3), "");
});
