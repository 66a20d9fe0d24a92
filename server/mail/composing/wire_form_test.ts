import assert from "node:assert/strict";
import { crlf, requireWireForm } from "./wire_form.ts";

const check = (text: string) =>
  requireWireForm(Uint8Array.from(text, (character) => character.charCodeAt(0)));

Deno.test("crlf() ends each line alike, whatever ended it", () => {
  assert.equal(crlf("a\rb\nc\r\nd\n\re\r\r\n"), "a\r\nb\r\nc\r\nd\r\n\r\ne\r\n\r\n");
  assert.equal(crlf(""), "");
});

Deno.test("requireWireForm() takes lines of 998 octets of ASCII", () => {
  check("\r\n");
  check(`${"a".repeat(998)}\r\n\r\n\t\x7f\x01\r\n`);
});

Deno.test("requireWireForm() throws for what receivers mend or misread", () => {
  const cases = ["", "a", "a\r", "a\n", "\na\r\n", "a\rb\r\n", "a\r\r\n", "\0\r\n", "\x80\r\n"];
  for (const text of [...cases.slice(1), `${"a".repeat(999)}\r\n`]) {
    assert.throws(() => check(text), TypeError);
  }
});
