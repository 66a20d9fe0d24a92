/** What is accepted arrives as it was meant, and nothing else does: read back by parsers of others. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import PostalMime, { type Address } from "postal-mime";
import { composeMail, type MailToCompose } from "../../../server/mail/composing/compose_mail.ts";
import { crlf } from "../../../server/mail/composing/wire_form.ts";
import { RelayError } from "../../../server/base/errors.ts";
import { anyRequest, dkimKey, mailToCompose, requestedMail } from "../../support/outgoing_mail.ts";
import { partOrSkip } from "../../support/part.ts";
import { propertyRuns, propertySeed } from "../../support/property_runs.ts";
import { opendkimOrSkip } from "../../support/opendkim.ts";
import { pythonOrSkip } from "../../support/python_program.ts";
import fc from "../../support/seeded_fast_check.ts";
import { dkimRecordName } from "../../../toolkit/mail/dkim_record.ts";
import { dkimRecord } from "../../../toolkit/node/dkim_key.ts";
import type { JsonObject } from "../../../toolkit/json_value.ts";

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

/** Names of a message's fields, without its parts' fields. */
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

partOrSkip("python3", "what readSend() accepts is read the same by Python", async (python) => {
  const mails = fc.sample(anyRequest, { numRuns: 400, seed: propertySeed() })
    .map(acceptedMail).filter((mail) => mail !== null);
  assert(mails.length > 100, `only ${mails.length} requests were accepted`);
  const read = await readByPython(
    [python, pathOf("../reading/read_mail_program.py")],
    [],
    await Promise.all(mails.map(composeMail)),
  ) as Record<string, unknown>[];
  assert.equal(read.length, mails.length);
  for (const [index, mail] of mails.entries()) {
    const { fields, text, html, attachments, subject, ...others } = read[index]!;
    const { to, cc, replyTo } = mail;
    assert.deepEqual(
      withoutSpaces({ defects: [], to, cc, replyTo }),
      withoutSpaces({ defects: [], ...others }),
    );
    assert.deepEqual(others["defects"], []);
    assert((fields as string[]).every((name) => FIELDS.test(name)), `${fields}`);
    assert.equal(subject, mail.subject);
    if (mail.text !== null) assert.equal(shown(text), shown(mail.text));
    if (mail.html !== null) assert.equal(shown(html), shown(mail.html));
    assert.deepEqual(
      (attachments as string[][]).toSorted(),
      mail.attachments.map((one) => [
        one.filename,
        one.contentType,
        Buffer.from(one.content).toString("hex"),
      ]).toSorted(),
    );
  }
});

const HARD_MAILS: Parameters<typeof mailToCompose>[0][] = [
  {},
  { text: "a bare CR \r tabs \t\t and \t \r\n \n\n  \nspaces  \n\n\n" },
  { subject: "a".repeat(998) },
  { subject: "word ".repeat(199).trim() },
  { subject: "ü".repeat(998), to: [{ name: 'O"Hara, =?x?= 日本', address: "o@example.org" }] },
  { subject: null, text: ".\n..\nFrom x\nFrom: y\n\nz" },
  { html: "<p>ü", attachments: [eml("application/octet-stream"), eml("text/plain")] },
  { references: Array.from({ length: 50 }, (_, n) => `${n}${"x".repeat(200)}@example.org`) },
  { autoSubmitted: "auto-replied", inReplyTo: "a@b.org", headers: [{ name: "X-A", value: "" }] },
];

await pythonOrSkip(
  pathOf("verify_dkim_requirements.txt"),
  ["dkim"],
  "signatures of composed mail are verified by dkimpy",
  async (run) => {
    const accepted = fc.sample(anyRequest, { numRuns: 100, seed: propertySeed() })
      .map(acceptedMail).filter((mail) => mail !== null);
    const mails = [...HARD_MAILS.map(mailToCompose), ...accepted];
    const signed = await Promise.all(
      mails.map((mail) => composeMail({ ...mail, dkim: dkimKey() })),
    );
    const tampered = signed.slice(0, HARD_MAILS.length)
      .map((message) => Buffer.concat([message, Buffer.from("more\r\n")]));
    const added = signed.slice(0, HARD_MAILS.length)
      .map((message) => Buffer.concat([Buffer.from("Subject: other\r\n"), message]));
    const folder = await folderOf([...signed, ...tampered, ...added]);
    try {
      const key = dkimKey();
      const { code, stdout, stderr } = await run([
        pathOf("verify_dkim_program.py"),
        folder,
        dkimRecordName(key),
        dkimRecord(key.privateKeyPem),
      ]);
      assert.equal(code, 0, stderr);
      const verdicts: unknown[] = JSON.parse(stdout);
      assert.equal(verdicts.length, signed.length + tampered.length + added.length);
      assert(mails.length > 30);
      assert.deepEqual(new Set(verdicts.slice(0, signed.length)), new Set([true]));
      assert(verdicts.slice(signed.length).every((verdict) => verdict !== true));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

await opendkimOrSkip("signatures of composed mail are verified by opendkim", async (verify) => {
  const record = dkimRecord(dkimKey().privateKeyPem);
  const signed = await Promise.all(
    HARD_MAILS.map(async (mail) =>
      Buffer.from(await composeMail({ ...mailToCompose(mail), dkim: dkimKey() })).toString("latin1")
    ),
  );
  const added = signed.flatMap((mail) =>
    ["Reply-To: eve@evil.example", "Cc: eve@evil.example", "Content-Type: text/html"]
      .map((field) => `${field}\r\n${mail}`)
  );
  const found = await verify([...signed, ...added].map((mail) => ({ mail, record })));
  assert.deepEqual(found, [...signed.map(() => true), ...added.map(() => false)]);
});

function eml(contentType: string) {
  const content = Buffer.from("From: a@example.org\r\nTo: b\r\n\r\nx\ry\nz".repeat(50));
  return { filename: "mail.eml", contentType, contentId: null, content: new Uint8Array(content) };
}

/** Python reads a space of ASCII for any other, and one between two encoded-words of a display name, where RFC 2047, 6.2, has none. */
function withoutSpaces(read: Record<string, unknown>): unknown {
  return JSON.parse(
    JSON.stringify(
      read,
      (key, value) => key === "name" && value !== null ? value.replace(/\s/g, "") : value,
    ),
  );
}

const shown = (text: unknown) => lines(String(text)).trimEnd();

async function readByPython(
  [python, program]: [string, string],
  args: string[],
  messages: Uint8Array[],
): Promise<unknown[]> {
  const folder = await folderOf(messages);
  try {
    const { code, stdout, stderr } = await new Deno.Command(python, {
      args: [program, folder, ...args],
      env: { PYTHONIOENCODING: "utf-8" },
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    return JSON.parse(new TextDecoder().decode(stdout));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function folderOf(messages: readonly Uint8Array[]): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "relay-composed-mail-" });
  await Promise.all(messages.map((message, n) => Deno.writeFile(`${folder}/${n}.eml`, message)));
  return folder;
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
