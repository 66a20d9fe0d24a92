import assert from "node:assert/strict";
import { printBody } from "./print_body.ts";

Deno.test("printBody() shows letters as letters and everything else as JSON", () => {
  assert.equal(printBody({ text: "a\nb" }), "  | a\n  | b\n");
  assert.equal(printBody({ subject: "s", text: "a" }), "  | Subject: s\n  | \n  | a\n");
  assert.equal(printBody("a"), "  | a\n");
  assert.equal(printBody({ text: "a", more: 1 }), '  | {"more":1,"text":"a"}\n');
  assert.equal(printBody({ subject: 1, text: "a" }), '  | {"subject":1,"text":"a"}\n');
  assert.equal(printBody([1, null]), "  | [1,null]\n");
  assert.equal(printBody(null), "  | null\n");
});

Deno.test("printBody() lets no body look like the command line's own words", () => {
  const body = { text: "a\r\npassed: message 1\u001b[2K\u202e", subject: "b\npassed: message 2" };
  const lines = printBody(body).trimEnd().split("\n");
  assert.equal(lines.length, 4);
  for (const line of lines) {
    assert.match(line, /^ {2}\| /);
    assert.doesNotMatch(line, /[\p{Cc}\p{Cf}]/u);
  }
});
