/** What is accepted arrives as it was meant, and nothing else does: read back by parsers of others. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import PostalMime, { type Address } from "postal-mime";
import { composeMail, type MailToCompose } from "../../server/mail/composing/compose_mail.ts";
import { crlf } from "../../server/mail/composing/wire_form.ts";
import { RelayError } from "../../server/errors.ts";
import { anyRequest, dkimKey, mailToCompose, requestedMail } from "../support/outgoing_mail.ts";
import { partOrSkip } from "../support/part.ts";
import { propertyRuns } from "../support/property_runs.ts";
import { pythonOrSkip } from "../support/python_program.ts";
import fc from "../support/seeded_fast_check.ts";
import { dkimRecord } from "../../server/mail/composing/prove_dkim.ts";
import type { JsonObject } from "../../toolkit/json_value.ts";

const FIELDS =
  /^(?:from|to|cc|reply-to|subject|date|message-id|mime-version|content-type|content-transfer-encoding|x-[a-z0-9-]+)$/;

/** What is to be sent; null for what is refused. */
function acceptedMail(request: JsonObject): MailToCompose | null {
  try {
    return requestedMail(request);
  } catch (error) {
    assert(error instanceof RelayError, String(error));
    assert.match(error.code, /^(?:invalid_json|invalid_email|payload_too_large)$/);
    return null;
  }
}

/** Names of a message's fields, without those of its parts. */
function fieldNames(message: string): string[] {
  const header = message.slice(0, message.indexOf("\r\n\r\n"));
  return header.replace(/\r\n[ \t]/g, " ").split("\r\n")
    .map((field) => field.slice(0, field.indexOf(":")).toLowerCase());
}

Deno.test("what readSend() accepts composes, parses back equal, and has no header but its own", async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(anyRequest, async (request) => {
      const mail = acceptedMail(request);
      if (mail === null) return;
      accepted++;
      const bytes = await composeMail(mail);
      const message = Buffer.from(bytes).toString("latin1");
      assert(message.split("\r\n").every((line) => line.length <= 998 && !/[\r\n\0]/.test(line)));
      assert.doesNotMatch(message, /hidden@secret/);
      const names = fieldNames(message);
      assert(names.every((name) => FIELDS.test(name)), `${names}`);
      const own = names.filter((name) => name.startsWith("x-"));
      assert.deepEqual(own, mail.headers.map(({ name }) => name.toLowerCase()));
      assert.equal(new Set(names).size - new Set(own).size, names.length - own.length);
      await assertReadBack(bytes, mail);
    }),
    propertyRuns(300),
  );
  assert(accepted > 100, `only ${accepted} requests were accepted`);
});

async function assertReadBack(bytes: Uint8Array, mail: MailToCompose): Promise<void> {
  const parsed = await PostalMime.parse(bytes);
  const shown = (addresses: Address[] | undefined) =>
    (addresses ?? []).map(({ name, address }) => ({ name: name || null, address }));
  assert.deepEqual(shown(parsed.to), mail.to);
  assert.deepEqual(shown(parsed.cc), mail.cc);
  assert.deepEqual(shown(parsed.replyTo), mail.replyTo);
  assert.equal(parsed.subject ?? null, mail.subject);
  assert.equal(parsed.messageId, `<${mail.messageId}>`);
  if (mail.text !== null) assert.equal(lines(parsed.text!).trimEnd(), lines(mail.text).trimEnd());
  if (mail.html !== null) assert.equal(lines(parsed.html!).trimEnd(), lines(mail.html).trimEnd());
  assert.deepEqual(
    parsed.attachments.map((one) => [
      one.filename,
      one.mimeType,
      Buffer.from(one.content as ArrayBuffer).toString("hex"),
    ]).toSorted(),
    mail.attachments.map((one) => [
      one.filename,
      one.contentType,
      Buffer.from(one.content).toString("hex"),
    ]).toSorted(),
  );
}

const lines = (text: string) => crlf(text).replaceAll("\r\n", "\n");
