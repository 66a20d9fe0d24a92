/** Mail to compose, as tests want it: a plain one, a key, and any that requests may ask for. */
import { generateKeyPairSync } from "node:crypto";
import type { MailToCompose } from "../../server/mail/composing/compose_mail.ts";
import type { DkimKey } from "../../server/mail/composing/sign_dkim.ts";
import { readSend } from "../../server/mail/sending/read_send.ts";
import type { JsonObject } from "../../toolkit/json_value.ts";
import fc from "./seeded_fast_check.ts";

export const OUTGOING_LIMITS = {
  mailRecipientsPerMessage: 50,
  mailBodyBytes: 1024 * 1024,
  mailAttachments: 20,
  mailRequestBytes: 10 * 1024 * 1024,
};

export function mailToCompose(fields: Partial<MailToCompose> = {}): MailToCompose {
  return {
    from: { name: "Ann's agent", address: "ann@agents.test" },
    to: [{ name: null, address: "bob@example.org" }],
    cc: [],
    replyTo: [],
    subject: "Hello",
    text: "Hello\nBob\n",
    html: null,
    attachments: [],
    headers: [],
    messageId: "01jd0000000000000000000000@agents.test",
    dateMs: Date.UTC(2026, 10, 22, 12),
    inReplyTo: null,
    references: [],
    autoSubmitted: null,
    boundary: "0123456789abcdef0123456789abcdef",
    dkim: null,
    ...fields,
  };
}

/** What a request to send becomes. @throws RelayError for what is refused */
export function requestedMail(request: JsonObject): MailToCompose {
  const nowMs = Date.UTC(2026, 10, 22, 12);
  const { to, cc, replyTo, subject, text, html, attachments, headers } = readSend(request, {
    limits: OUTGOING_LIMITS,
    nowMs,
  });
  return mailToCompose({ to, cc, replyTo, subject, text, html, attachments, headers });
}

let key: DkimKey | null = null;

/** One key for all tests of a process: making one takes a while. */
export function dkimKey(): DkimKey {
  if (key !== null) return key;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return key = { domain: "agents.test", selector: "relay1", privateKeyPem };
}

/** Everything that somebody tries to get a header of his own with, and what parsers trip over. */
const PIECES = [
  "\r\n",
  "\r",
  "\n",
  "\r\nBcc: eve@example.org",
  "\nX-Injected: yes\n\n",
  "\0",
  "\u0085",
  "\u2028",
  "\u2029",
  "\u202e",
  "\ufeff",
  "\u212a",
  "=?utf-8?Q?=0D=0ABcc:_eve@example.org?=",
  "=?utf-8?B?DQpCY2M6IGV2ZQ==?=",
  "=?",
  "?=",
  "  ",
  " ",
  "\t",
  '"',
  "\\",
  "<eve@example.org>",
  ",",
  ";",
  ":",
  "'",
  "%0d%0a",
  "--",
  ".",
  "From ",
  "a",
  "ä",
  "日本",
  "😀",
  "x".repeat(80),
  "y".repeat(1000),
  "boundary=x",
  "*0*=utf-8''%0d%0a",
];
const piece = fc.constantFrom(...PIECES);
const anyText = fc.array(fc.oneof(piece, fc.string({ unit: "grapheme" })), { maxLength: 12 })
  .map((parts) => parts.join(""));
const address = fc.oneof(
  { weight: 8, arbitrary: fc.emailAddress() },
  { weight: 1, arbitrary: anyText },
);
const mailbox = fc.oneof(address, fc.record({ name: anyText, address }));
const bytes = fc.uint8Array({ maxLength: 300 });
const attachment = fc.record({
  filename: anyText,
  content_type: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom("text/plain", "image/png", "application/pdf") },
    { weight: 1, arbitrary: anyText },
  ),
  content: bytes.map((content) => btoa(String.fromCharCode(...content))),
  content_id: fc.option(fc.oneof(fc.stringMatching(/^[a-z0-9.]{1,40}@[a-z]{1,9}$/), anyText)),
});

/** Requests to send of every kind, many of them refused. */
export const anyRequest: fc.Arbitrary<JsonObject> = fc.record({
  to: fc.oneof(mailbox, fc.array(mailbox, { maxLength: 4 })),
  cc: fc.option(fc.array(mailbox, { maxLength: 3 })),
  bcc: fc.constant("hidden@secret.example"),
  reply_to: fc.option(mailbox),
  subject: fc.option(anyText),
  text: fc.option(anyText),
  html: fc.option(anyText.map((text) => `<p>${text}</p>`)),
  headers: fc.option(
    fc.dictionary(
      fc.oneof(
        { weight: 6, arbitrary: fc.stringMatching(/^X-[A-Za-z0-9-]{1,74}$/) },
        { weight: 1, arbitrary: anyText },
      ),
      anyText,
      { maxKeys: 3 },
    ),
  ),
  attachments: fc.option(fc.array(attachment, { maxLength: 3 })),
}, { noNullPrototype: true }) as fc.Arbitrary<JsonObject>;
