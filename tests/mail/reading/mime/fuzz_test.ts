import assert from "node:assert/strict";
import { emptyParsedMail } from "../../../../server/mail/reading/parsed/parsed_patch.ts";
import { parseMail } from "../../../../server/mail/reading/parse_mail.ts";
import { readAttachment } from "../../../../server/mail/reading/mime/read_attachment.ts";
import { isLong } from "../../../support/long_test.ts";
import { propertyRuns } from "../../../support/property_runs.ts";
import fc from "../../../support/seeded_fast_check.ts";
import { AWKWARD_MAILS, bytesOf } from "./corpus.ts";
import { toEnd } from "../../../../server/base/slices/sliced.ts";

const limits = { parts: 20, depth: 5 };
const WORDS = [
  "--b",
  "--b--",
  "--bb\r\n",
  "\r\n",
  "\n",
  "\r",
  "\0",
  "\r\n\r\n",
  "Content-Type: ",
  "multipart/mixed; boundary=b",
  'multipart/alternative; boundary="bb"',
  "text/html",
  "message/rfc822",
  "; name*0*=utf-8''%C3",
  '; filename="',
  "Content-Transfer-Encoding: base64\r\n",
  "Content-Transfer-Encoding: quoted-printable\r\n",
  "=?utf-8?Q?=C3?=",
  "=?iso-2022-jp?B?GyRC?=",
  "From: ",
  "To: ",
  "<a@b.example>",
  "(",
  ")",
  '"',
  "\\",
  ",",
  ";",
  ":",
  "References: <a@b> ",
  "Subject: ",
  " ",
  "\xff\xfe",
  "\xe2\x80\xae",
  "=",
  "=\r\n",
  "<div>",
  "%",
];

/** What holds of every mail, whatever its bytes. */
function assertReadable(raw: Uint8Array): void {
  const began = performance.now();
  const mail = parseMail(raw, { envelopeFrom: "", limits });
  assert.ok(performance.now() - began < 2_000, "a small mail takes no time");
  assert.deepEqual(Object.keys(mail.facts).sort(), Object.keys(emptyParsedMail().facts).sort());
  const { facts, texts } = mail;
  assert.ok(JSON.stringify(facts).length <= 40 * 1024);
  assert.equal(JSON.stringify(mail), JSON.stringify(parseMail(raw, { envelopeFrom: "", limits })));
  assert.ok(facts.attachments.length <= limits.parts + 1);
  const seen = [facts.subject, facts.from?.name, ...facts.attachments.map((a) => a.filename)];
  // deno-lint-ignore no-control-regex
  for (const text of seen) assert.doesNotMatch(text ?? "", /[\x00-\x1f\x7f]/);
  for (const text of [...seen, texts.text, texts.html]) assert.ok((text ?? "").isWellFormed());
  for (const id of [facts.rfcMessageId, facts.inReplyTo, ...facts.references]) {
    assert.match(id ?? "x", /^[\x21-\x3b\x3d\x3f-\x7e]{1,250}$/);
  }
  for (const attachment of facts.attachments) {
    const index = Number(attachment.id.slice(4));
    assert.deepEqual(
      toEnd(readAttachment(raw, { index, sha256: attachment.sha256 }, limits))?.attachment,
      attachment,
    );
  }
}

Deno.test("parseMail() takes any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (raw) => assertReadable(raw)),
    propertyRuns(isLong ? 300 : 100),
  );
});

Deno.test("parseMail() takes the words of mail in any order", () => {
  const words = fc.array(fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 6 })), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(words, (all) => assertReadable(bytesOf(all.join("")))),
    propertyRuns(isLong ? 1_500 : 500),
  );
});

Deno.test("parseMail() takes awkward mails of which pieces are cut out, doubled, changed or exchanged", () => {
  const mail = fc.constantFrom(...AWKWARD_MAILS).map(({ raw }) => raw);
  const place = fc.double({ min: 0, max: 1, noNaN: true });
  const change = fc.tuple(
    fc.constantFrom("cut", "double", "flip", "insert"),
    place,
    place,
    fc.nat(255),
  );
  fc.assert(
    fc.property(
      mail,
      mail,
      fc.array(change, { minLength: 1, maxLength: 6 }),
      (raw, other, changes) => {
        let bytes = Array.from(raw);
        for (const [how, from, to, byte] of changes) {
          const [start, end] = [from, to].map((at) => Math.floor(at * bytes.length)).sort((a, b) =>
            a - b
          );
          const piece = bytes.slice(start, end);
          if (how === "cut") bytes.splice(start!, piece.length);
          else if (how === "double") bytes.splice(end!, 0, ...piece);
          else if (how === "flip") bytes[start!] = byte;
          else {bytes = [
              ...bytes.slice(0, start),
              ...other.subarray(0, byte),
              ...bytes.slice(start),
            ];}
        }
        assertReadable(Uint8Array.from(bytes));
      },
    ),
    propertyRuns(isLong ? 1_500 : 500),
  );
});
