/** Mail to compose, as tests want it: a plain one, a key, and any that requests may ask for. */
import { generateKeyPairSync } from "node:crypto";
import type { MailToCompose } from "../../server/mail/composing/compose_mail.ts";
import type { DkimKey } from "../../server/mail/composing/sign_dkim.ts";
import { readSend } from "../../server/mail/composing/requests/read_send.ts";
import type { JsonObject } from "../../toolkit/json_value.ts";
import { DEFAULT_LIMITS } from "../../server/base/config/limits.ts";
import fc from "./seeded_fast_check.ts";

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
    limits: DEFAULT_LIMITS,
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

/** What parsers trip over, and what somebody tries to get a header of his own with. */
const ODD = [
  "=?utf-8?Q?=0D=0ABcc:_eve@example.org?=",
  "=?utf-8?B?DQpCY2M6IGV2ZQ==?=",
  "=?",
  "?=",
  "  ",
  " ",
  '"',
  "\\",
  "<eve@example.org>",
  "Bcc: eve@example.org",
  ",",
  ";",
  ":",
  "'",
  "()",
  "%0d%0a",
  "--",
  "--_NmP-",
  ".",
  "From ",
  "a",
  "word and ",
  "ä",
  "日本",
  "😀",
  "\u212a",
  "\u00a0",
  "\u200d",
  "x".repeat(80),
  "y".repeat(900),
  "boundary=x",
  "*0*=utf-8''%0d%0a",
];
/** What no line may hold, but a text may, NUL excepted. */
const BREAKS = [
  "\r\n",
  "\r",
  "\n",
  "\t",
  "\r\nBcc: eve@example.org",
  "\nX-Injected: yes\n\n",
  "\r\n.\r\n",
  "\u0001",
  "\u007f",
  "\u0085",
  "\u2028",
  "\u2029",
  "\u202e",
];
const odd = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ODD) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 8 }) },
);
const joined = (parts: fc.Arbitrary<string>) =>
  fc.array(parts, { maxLength: 10 }).map((list) => list.join(""));
/** A line of odd words; one in twenty has a break in it. */
const anyLine = fc.oneof(
  { weight: 19, arbitrary: joined(odd) },
  { weight: 1, arbitrary: joined(fc.oneof(odd, fc.constantFrom(...BREAKS, "\0", "\ud800"))) },
);
const anyText = joined(fc.oneof(odd, fc.constantFrom(...BREAKS)));
const address = fc.oneof(
  { weight: 30, arbitrary: fc.emailAddress({ size: "small" }) },
  { weight: 1, arbitrary: anyLine },
);
const mailbox = fc.oneof(
  address,
  fc.record({ name: anyLine.map((name) => name.slice(0, 100)), address }),
);
const bytes = fc.uint8Array({ maxLength: 300 });
const attachment = fc.record({
  filename: anyLine.map((name) => name.replace(/[/\\]|=\?/g, "").slice(0, 255) || "a"),
  content_type: fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom("image/png", "application/pdf") },
    { weight: 1, arbitrary: anyLine },
  ),
  content: bytes.map((content) => btoa(String.fromCharCode(...content))),
  content_id: fc.option(fc.oneof(
    { weight: 30, arbitrary: fc.stringMatching(/^[a-z0-9.]{1,40}@[a-z]{1,9}$/) },
    { weight: 1, arbitrary: anyLine },
  )),
});

/** Requests to send of every kind, many of them refused. */
export const anyRequest: fc.Arbitrary<JsonObject> = fc.record({
  to: fc.oneof(mailbox, fc.array(mailbox, { maxLength: 4 })),
  cc: fc.option(fc.array(mailbox, { maxLength: 3 })),
  bcc: fc.constant("hidden@secret.example"),
  reply_to: fc.option(mailbox),
  subject: fc.option(anyLine.map((line) => line.slice(0, 998))),
  text: fc.option(anyText),
  html: fc.option(anyText.map((text) => `<p>${text}</p>`)),
  headers: fc.option(
    fc.dictionary(
      fc.oneof(
        { weight: 30, arbitrary: fc.stringMatching(/^X-[A-Za-z0-9]{1,74}$/) },
        { weight: 1, arbitrary: anyLine },
      ),
      anyLine.map((line) => line.slice(0, 998)),
      { maxKeys: 3 },
    ),
  ),
  attachments: fc.option(fc.array(attachment, { maxLength: 3 })),
}, { noNullPrototype: true }) as fc.Arbitrary<JsonObject>;
