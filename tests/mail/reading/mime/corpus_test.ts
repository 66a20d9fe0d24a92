import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { parseMail } from "../../../../server/mail/reading/parse_mail.ts";
import { readAttachment } from "../../../../server/mail/reading/mime/read_attachment.ts";
import { AWKWARD_MAILS, type Expectation, latin1Of, plainExpectation } from "./corpus.ts";
import { toEnd } from "../../../../server/base/slices/sliced.ts";

const limits = { parts: 200, depth: 50 };
const context = { envelopeFrom: "a@a.example", limits };

function read(raw: Uint8Array): Expectation {
  const { facts, texts } = parseMail(raw, context);
  return {
    from: facts.from?.address ?? null,
    fromName: facts.from?.name ?? null,
    to: facts.to,
    subject: facts.subject,
    text: texts.text,
    html: texts.html,
    textSource: facts.textSource,
    attachments: facts.attachments.map(({ id, filename, contentType, disposition, ...rest }, i) => {
      assert.equal(id, `att_${i}`);
      const { attachment, bytes } = toEnd(
        readAttachment(raw, { index: i, sha256: rest.sha256 }, limits),
      )!;
      assert.deepEqual(attachment, facts.attachments[i]);
      assert.equal(rest.sizeBytes, bytes.length);
      assert.equal(rest.sha256, createHash("sha256").update(bytes).digest("hex"));
      return [filename, contentType, disposition, latin1Of(bytes)];
    }),
    warnings: facts.parseWarnings,
    automated: facts.automated,
  };
}

for (const { name, raw, expected } of AWKWARD_MAILS) {
  Deno.test(`parseMail() reads ${name}`, () => {
    const before = latin1Of(raw);
    assert.deepEqual(read(raw), { ...plainExpectation, ...expected });
    assert.equal(latin1Of(raw), before);
    assert.equal(toEnd(readAttachment(raw, { index: 99, sha256: "" }, limits)), null);
  });
}
