import assert from "node:assert/strict";
import PostalMime from "postal-mime";
import { mailToCompose } from "../../../tests/support/outgoing_mail.ts";
import { composeMail } from "./compose_mail.ts";
import type { NewAttachment } from "../records/message_content.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const compose = async (...fields: Parameters<typeof mailToCompose>) =>
  text(await composeMail(mailToCompose(...fields)));
const headerOf = (message: string) => message.slice(0, message.indexOf("\r\n\r\n"));
const attachment = (fields: Partial<NewAttachment> = {}): NewAttachment => ({
  filename: "a.txt",
  contentType: "text/plain",
  contentId: null,
  content: new TextEncoder().encode("hi\n"),
  ...fields,
});

Deno.test("composeMail() writes a plain mail as everybody reads it", async () => {
  const message = await compose({
    cc: [{ name: "Carol", address: "carol@example.org" }],
    replyTo: [{ name: null, address: "team@example.org" }],
    inReplyTo: "parent@example.org",
    references: ["root@example.org", "parent@example.org"],
    autoSubmitted: "auto-replied",
    headers: [{ name: "X-Campaign", value: "spring" }],
  });
  assert.deepEqual(message.split("\r\n"), [
    'From: "Ann\'s agent" <ann@agents.test>',
    "To: bob@example.org",
    "Cc: Carol <carol@example.org>",
    "Reply-To: team@example.org",
    "Subject: Hello",
    "In-Reply-To: <parent@example.org>",
    "References: <root@example.org> <parent@example.org>",
    "Auto-Submitted: auto-replied",
    "X-Campaign: spring",
    "Message-ID: <01jd0000000000000000000000@agents.test>",
    "Date: Sun, 22 Nov 2026 12:00:00 +0000",
    "Content-Transfer-Encoding: 7bit",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "",
    "Hello",
    "Bob",
    "",
  ]);
});

Deno.test("composeMail() writes no field for what is not there", async () => {
  const header = headerOf(await compose({ subject: null }));
  assert.match(header, /^From: /);
  assert.doesNotMatch(
    header,
    /^(?:Subject|Cc|Bcc|Reply-To|In-Reply-To|References|Auto-Submitted):/im,
  );
});

Deno.test("composeMail() gives the same bytes for the same input", async () => {
  const fields = { html: "<p>x", attachments: [attachment()] };
  const first = await compose(fields);
  assert.equal(await compose(fields), first);
  assert.match(first, /boundary="--_NmP-0123456789abcdef0123456789abcdef-Part_1"/);
  assert.notEqual(await compose({ ...fields, boundary: "fedcba9876543210" }), first);
});

Deno.test("composeMail() ends lines with CRLF, whatever ended them", async () => {
  const message = await compose({ text: "a\rb\nc\r\nd\n\re" });
  assert.equal(message.slice(message.indexOf("\r\n\r\n")), "\r\n\r\na\r\nb\r\nc\r\nd\r\n\r\ne\r\n");
});

Deno.test("composeMail() makes a text of HTML that comes alone", async () => {
  const parsed = await PostalMime.parse(await compose({ text: null, html: "<p>Hällo</p>" }));
  assert.equal(parsed.text?.trim(), "Hällo");
  assert.equal(parsed.html?.trim(), "<p>Hällo</p>");
  const withoutWords = await compose({ text: null, html: "<img src=cid:a>" });
  assert.match(headerOf(withoutWords), /Content-Type: text\/html/);
});

Deno.test("composeMail() nests only the parts that are needed", async () => {
  const structure = async (...fields: Parameters<typeof mailToCompose>) =>
    [...(await compose(...fields)).matchAll(/Content-Type: ([a-z/]+)/g)].map(([, type]) => type);
  const picture = attachment({ contentType: "image/png", contentId: "p@x" });
  assert.deepEqual(await structure({}), ["text/plain"]);
  assert.deepEqual(await structure({ html: "<p>" }), [
    "multipart/alternative",
    "text/plain",
    "text/html",
  ]);
  assert.deepEqual(await structure({ html: "<p>", attachments: [picture, attachment()] }), [
    "multipart/mixed",
    "multipart/alternative",
    "text/plain",
    "multipart/related",
    "text/html",
    "image/png",
    "text/plain",
  ]);
  // Without HTML nothing names it.
  assert.deepEqual(await structure({ attachments: [picture] }), [
    "multipart/mixed",
    "text/plain",
    "image/png",
  ]);
});

Deno.test("composeMail() keeps attachments byte for byte, with names of any alphabet", async () => {
  const content = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 7919) >> 3 & 0xff);
  const filenames = [
    "a.bin",
    "rühl 報告 😀.pdf",
    'quo"te.txt',
    "a; filename=b.exe",
    "x".repeat(255),
    "ü".repeat(255),
  ];
  const message = await compose({
    html: "<img src=cid:1@x>",
    attachments: filenames.map((filename, n) =>
      attachment({
        filename,
        content,
        contentType: "image/png",
        contentId: n === 0 ? "1@x" : null,
      })
    ),
  });
  const { attachments } = await PostalMime.parse(message);
  assert.deepEqual(
    attachments.map(({ filename }) => filename).toSorted(),
    filenames.toSorted(),
  );
  assert(attachments.every((one) => {
    assert.deepEqual(new Uint8Array(one.content as ArrayBuffer), content);
    return true;
  }));
  const inline = attachments.filter(({ disposition }) => disposition === "inline");
  assert.deepEqual(inline.map(({ contentId }) => contentId), ["<1@x>"]);
});

Deno.test("composeMail() throws for what no reader of requests lets through", async () => {
  const bad: Record<string, Parameters<typeof mailToCompose>[0]> = {
    "an address that ends its field": {
      to: [{ name: null, address: "a@example.org\r\nBcc: eve@example.org" }],
    },
    "a field that is not the sender's": { headers: [{ name: "Bcc", value: "eve@example.org" }] },
    "a name that ends its field": { headers: [{ name: "X-A:\r\nBcc", value: "b" }] },
    "a Message-ID with a bracket": { messageId: "a>\r\nBcc: b" },
    "a content type that ends its field": {
      attachments: [attachment({ contentType: "text/plain\r\nBcc: b" })],
    },
    "a message as an attachment": { attachments: [attachment({ contentType: "message/rfc822" })] },
    "a Content-ID that ends its field": { attachments: [attachment({ contentId: "a\r\nb" })] },
    "an attachment that names a file": {
      attachments: [attachment({ content: { path: "/etc/hostname" } as never })],
    },
    "a boundary of no chance": { boundary: "" },
    "no body": { text: null },
  };
  const names = Object.keys(bad);
  assert(names.length > 0);
  for (const name of names) {
    await assert.rejects(compose(bad[name]), TypeError, name);
  }
});

Deno.test("composeMail() neither reads a file nor shows Bcc that slips in", async () => {
  const message = await compose(
    {
      bcc: [{ name: null, address: "eve@example.org" }],
      path: "/etc/hostname",
      raw: "x",
    } as never,
  );
  assert.equal(message, await compose());
});
