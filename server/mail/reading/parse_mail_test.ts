import assert from "node:assert/strict";
import { previewOf } from "./parse_mail.ts";

Deno.test("previewOf() gives 200 code points in one line", () => {
  assert.equal(previewOf(null), "");
  assert.equal(previewOf(" \n "), "");
  assert.equal(previewOf("  Hi\u00a0there,\r\n\n\tBo "), "Hi there, Bo");
  assert.equal(previewOf("😀".repeat(300)), "😀".repeat(200));
  assert.equal([...previewOf("ab ".repeat(300))].length, 200);
  assert.equal(previewOf("x".repeat(200)), "x".repeat(200));
});
