import assert from "node:assert/strict";
import { jsonLine, printBody, printFields } from "./print.ts";

// What others can write that a terminal acts on: C0, DEL, C1, bidi controls, line separators, tags.
const UNSEEN = "a\u001b[2J\u007f\u009b2J\u202e\u2028\ufeff\u{e0041}\ud800é😀";

Deno.test("jsonLine() is one line that moves no cursor and is parsed to the same", () => {
  const value = { [UNSEEN]: [UNSEEN] };
  const line = jsonLine(value);
  assert.doesNotMatch(line.slice(0, -1), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
  assert.equal(line.at(-1), "\n");
  assert.match(line, /\\u009b2J\\u202e\\u2028\\ufeff\\udb40\\udc41\\ud800é😀/);
  assert.deepEqual(JSON.parse(line), value);
});

Deno.test("printFields() aligns what is there and escapes it", () => {
  assert.equal(
    printFields({ a: UNSEEN, long: 1, none: undefined, empty: "" }).split("\n")[1],
    "long  1",
  );
  assert.doesNotMatch(printFields({ a: UNSEEN }).trimEnd(), /[\p{Cc}\p{Cf}]/u);
});

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
