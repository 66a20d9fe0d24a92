import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import body from "mailauth/lib/dkim/body/index.js";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import { relaxedBody } from "./relaxed_body.ts";

const relaxed = (text: string) =>
  Buffer.from(relaxedBody(Buffer.from(text, "latin1"))).toString("latin1");

Deno.test("relaxedBody() is that of RFC 6376", () => {
  const forms: [string, string][] = [
    [" C \r\nD \t E\r\n\r\n\r\n", " C\r\nD E\r\n"],
    ["", ""],
    ["\r\n\r\n", ""],
    [" \t\r\n", ""],
    ["a", "a\r\n"],
    ["a  ", "a\r\n"],
    ["a\r\n\r\nb", "a\r\n\r\nb\r\n"],
    ["a\rb \r c\r\n", "a\rb \r c\r\n"],
  ];
  for (const [text, expected] of forms) assert.equal(relaxed(text), expected, JSON.stringify(text));
});

Deno.test("relaxedBody() has the hash that the library gives the body itself", () => {
  const hash = (bytes: Uint8Array) => {
    const hasher = body.dkimBody("relaxed", "sha256", "");
    hasher.update(Buffer.from(bytes));
    return hasher.digest("base64");
  };
  const line = fc.stringMatching(/^[ab \t]{0,6}$/).map((text) => `${text}\r\n`);
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 8 }),
      fc.stringMatching(/^[ab]{0,3}$/),
      (lines, end) => {
        const bytes = Buffer.from(lines.join("") + end, "latin1");
        const form = relaxedBody(bytes);
        assert.equal(hash(form), hash(bytes));
        assert.deepEqual(
          Buffer.from(relaxedBody(form)),
          Buffer.from(form),
          "relaxed once is enough",
        );
      },
    ),
  );
});
