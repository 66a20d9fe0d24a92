import assert from "node:assert/strict";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import { parseMail } from "../parse_mail.ts";
import { peekFrom } from "./peek_from.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const context = { envelopeFrom: "", limits: { parts: 10, depth: 10 } };
const parsed = (raw: Uint8Array<ArrayBuffer>) =>
  parseMail(raw, context).facts.from?.address ?? null;

Deno.test("peekFrom() finds what parsing finds, whatever stands in a header", () => {
  const line = fc.constantFrom(
    "From: a@b.example",
    "from : A <a@B.example>, c@d.example",
    "FROM:\t=?utf-8?q?x=40y.example?= <a@b.example>",
    "From: nobody",
    "From:",
    "From: group: a@b.example, c@d.example;",
    'From: "a@b.example',
    "From: a@b\u00fccher.example",
    "From a@b.example Thu Jan  1 00:00:00 2026",
    " a@folded.example",
    "\t<x@folded.example>",
    "\v a@b.example",
    "X-From: a@b.example",
    "Subject: x",
    "Content-Type: multipart/mixed; boundary=x",
    "--x",
    "no field",
    "",
    "\r",
    "\0",
  );
  const end = fc.constantFrom("\r\n", "\n", "\r\r\n");
  const message = fc.array(fc.tuple(line, end), { maxLength: 12 })
    .map((lines) => encode(lines.flat().join("")) as Uint8Array<ArrayBuffer>);
  fc.assert(fc.property(message, (raw) => assert.equal(peekFrom(raw), parsed(raw))));
});

Deno.test("peekFrom() looks at a bounded part, and says so where that does not tell", () => {
  const long = "X: y\r\n".repeat(20_000);
  assert.equal(peekFrom(encode(`From: a@b.example\r\n${long}\r\nx`)), "a@b.example");
  assert.equal(peekFrom(encode(`${long}From: a@b.example\r\n\r\nx`)), undefined);
  assert.equal(peekFrom(encode(`From: nobody\r\n${long}\r\nx`)), undefined);
  // A field that goes on behind the bound is not read in part.
  const cut = `X: ${"y".repeat(32_680)}\r\nFrom: c@d.example,${" ".repeat(20)}`;
  assert.ok(cut.length < 32 * 1024 && cut.length + 200 > 32 * 1024, `${cut.length}`);
  const whole = encode(`${cut}\r\n ${"x".repeat(200)}, a@b.example\r\n\r\nx`);
  assert.equal(peekFrom(whole), undefined);
  const many = (count: number) => encode(`${"X: y\r\n".repeat(count)}From: a@b.example\r\n\r\nx`);
  assert.deepEqual([peekFrom(many(499)), peekFrom(many(500))], ["a@b.example", undefined]);
  assert.equal(peekFrom(encode(`From: a@b.example\r\n\r\n${"x".repeat(100_000)}`)), "a@b.example");
});
