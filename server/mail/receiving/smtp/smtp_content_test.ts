import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import { SmtpContent } from "./smtp_content.ts";

/** What a reader makes of pieces; the rest of the last piece is not the message's. */
function read(pieces: readonly string[]) {
  const content = new SmtpContent();
  let text = "";
  for (const [index, piece] of pieces.entries()) {
    const used = content.take(
      Buffer.from(piece, "latin1"),
      (part) => text += Buffer.from(part).toString("latin1"),
    );
    if (used === null) continue;
    const rest = piece.slice(used) + pieces.slice(index + 1).join("");
    return { text, isMalformed: content.isMalformed, rest };
  }
  return { text, isMalformed: content.isMalformed, rest: null };
}

/** The same by the words of RFC 5321, section 4.5.2, for content whose lines end in CRLF alone. */
function readByLines(sent: string) {
  const end = `\r\n${sent}`.indexOf("\r\n.\r\n");
  if (end === -1) return null;
  const lines = sent.slice(0, end).replaceAll(/^\./g, "").replaceAll("\r\n.", "\r\n");
  return { text: lines, rest: sent.slice(end + 3) };
}

Deno.test("SmtpContent reads the same of pieces of any size, and as the words of the RFC have it", () => {
  const parts = fc.array(
    fc.constantFrom("\r\n", ".", "..", "\r\n.\r\n", "a", "\r\n.", "NOOP\r\n"),
    { maxLength: 30 },
  );
  fc.assert(fc.property(parts, fc.integer({ min: 1, max: 9 }), (made, size) => {
    const sent = made.join("");
    const pieces = sent.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    const whole = read([sent]);
    assert.deepEqual(read(pieces), whole);
    const expected = readByLines(sent);
    assert.equal(whole.isMalformed, false);
    if (expected === null) assert.equal(whole.rest, null);
    else assert.deepEqual({ text: whole.text, rest: whole.rest }, expected);
  }));
});

Deno.test("SmtpContent finds every NUL, CR and LF that is not of a CRLF, and no end but CRLF.CRLF", () => {
  const parts = fc.array(fc.constantFrom("\r", "\n", ".", "a", "\r\n", "\0"), { maxLength: 20 });
  fc.assert(fc.property(parts, fc.integer({ min: 1, max: 5 }), (made, size) => {
    const sent = made.join("");
    const pieces = sent.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    const end = `\r\n${sent}`.indexOf("\r\n.\r\n");
    const { isMalformed, rest } = read(pieces);
    assert.equal(rest, end === -1 ? null : sent.slice(end + 3));
    const content = end === -1 ? sent.replace(/\r$/, "") : sent.slice(0, end);
    assert.equal(isMalformed, /\0|\r(?!\n)|(?<!\r)\n/.test(content));
  }));
});
