import assert from "node:assert/strict";
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";
import { forwardText } from "./forward_text.ts";
import { forwardedAttachment } from "./forwarded_attachment.ts";
import { refuseLargeMessage } from "../composing/requests/message_size.ts";

const limits = { mailBodyBytes: 1024, mailRequestBytes: 4096, mailAttachments: 2 };
const original: {
  from: MailAddress | null;
  to: MailAddress[];
  subject: string | null;
  createdAtMs: number;
} = {
  from: { name: "Ann", address: "ann@example.org" },
  to: [{ name: null, address: "agent@agents.test" }, { name: "Bob", address: "bob@example.org" }],
  subject: "Hello",
  createdAtMs: Date.UTC(2026, 10, 22, 12),
};

Deno.test("forwardText() shows the sender's words, a line, the original", () => {
  assert.equal(
    forwardText("See below.\n", original, "Good day\n", limits),
    [
      "See below.",
      "",
      "---------- Forwarded message ----------",
      "From: Ann <ann@example.org>",
      "Date: Sun, 22 Nov 2026 12:00:00 +0000",
      "Subject: Hello",
      "To: agent@agents.test, Bob <bob@example.org>",
      "",
      "Good day",
      "",
    ].join("\n"),
  );
});

Deno.test("forwardText() makes do without words, sender, recipients, subject and text", () => {
  const bare = { ...original, from: null, to: [], subject: null };
  assert.equal(
    forwardText(null, bare, null, limits),
    "---------- Forwarded message ----------\nDate: Sun, 22 Nov 2026 12:00:00 +0000\nSubject:\n\n",
  );
});

Deno.test("forwardText() lets no name or subject begin a line of its own", () => {
  const forged = {
    ...original,
    from: { name: "Ann\r\nSubject: forged", address: "ann@example.org" },
    subject: "a\u2028Date: forged",
  };
  const lines = forwardText(null, forged, "a\0\ud800", limits).split("\n");
  assert.deepEqual(lines.slice(1, 4), [
    "From: Ann Subject: forged <ann@example.org>",
    "Date: Sun, 22 Nov 2026 12:00:00 +0000",
    "Subject: a Date: forged",
  ]);
  assert.equal(lines.at(-1), "a\ufffd\ufffd");
});

Deno.test("forwardText() refuses a text over the bound", () => {
  assert.throws(() => forwardText(null, original, "x".repeat(1024), limits), {
    code: "payload_too_large",
  });
});

Deno.test("refuseLargeMessage() counts attachments as base64, with both bodies", () => {
  const bodies = { text: "é".repeat(48), html: null };
  refuseLargeMessage(bodies, [1500, 1500], limits);
  refuseLargeMessage({ text: null, html: null }, [], limits);
  for (const sizes of [[1500, 1501], [1, 1, 1], [3073]]) {
    assert.throws(() => refuseLargeMessage(bodies, sizes, limits), { code: "payload_too_large" });
  }
  assert.throws(() => refuseLargeMessage({ ...bodies, html: "x" }, [1500, 1500], limits), {
    code: "payload_too_large",
  });
});

Deno.test("forwardedAttachment() says nothing that a request could not", () => {
  const content = new Uint8Array(1);
  const forwarded = (filename: string | null, contentType: string) => {
    const one = forwardedAttachment({ id: "att_3", filename, contentType }, content);
    assert.equal(one.content, content);
    return [one.filename, one.contentType, one.contentId];
  };
  assert.deepEqual(forwarded("a.pdf", "application/pdf"), ["a.pdf", "application/pdf", null]);
  assert.deepEqual(forwarded(null, "message/rfc822"), ["att_3", "application/octet-stream", null]);
  assert.deepEqual(forwarded("../a\r\nb\\=?utf-8?Q?c?=", "Text/Plain; name=x"), [
    ".._a b_= ?utf-8?Q?c?=",
    "application/octet-stream",
    null,
  ]);
  assert.equal(forwarded("x".repeat(300), "TEXT/PLAIN")[0]!.length, 255);
});
