import assert from "node:assert/strict";
import { readMail } from "./read_mail.ts";

const read = (text: string) => readMail(new TextEncoder().encode(text.replaceAll("\n", "\r\n")));

Deno.test("readMail() reads what people look for", async () => {
  const content = await read(`From: =?utf-8?q?J=C3=BCrgen?= <j@x.test>
To: a@y.test, B <b@y.test>
Subject: Your code
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=m

--m
Content-Type: text/html; charset=utf-8

<p>It is <b>123456</b>: <a href="https://x.test/?t=1&amp;u=2">go</a></p>
--m
Content-Type: text/plain
Content-Disposition: attachment; filename="a.txt"

hello
--m--
`);
  assert.equal(content.from, "Jürgen <j@x.test>");
  assert.equal(content.to, "a@y.test, B <b@y.test>");
  assert.equal(content.subject, "Your code");
  assert.match(content.text, /It is 123456/);
  assert.deepEqual([content.hasHtml, content.isCut], [true, false]);
  assert.deepEqual(content.codes, ["123456"]);
  assert.ok(content.links.includes("https://x.test/?t=1&u=2"));
  assert.deepEqual(
    content.attachments.map(({ filename, content_type }) => [filename, content_type]),
    [
      ["a.txt", "text/plain"],
    ],
  );
});

Deno.test("readMail() gives the plain text beside HTML, and the links and codes that are shown", async () => {
  const content = await read(`From: j@x.test
Content-Type: multipart/alternative; boundary=m

--m
Content-Type: text/plain

Your code:
123456
https://x.test/?t=1
--m
Content-Type: text/html

<p>Your code: 654321 <a href="https://x.test/?t=2">go</a>
--m--
`);
  assert.equal(content.text.trim(), "Your code:\n123456\nhttps://x.test/?t=1");
  assert.deepEqual(
    [content.codes, content.links],
    [["654321"], ["https://x.test/?t=2"]],
  );
});

Deno.test("readMail() shows the beginning of what is long, and something of what is no mail", async () => {
  const long = await read(`Subject: long\n\n${"x".repeat(150_000)}`);
  assert.deepEqual([long.text.length, long.isCut], [100_000, true]);
  const huge = await readMail(new Uint8Array(3 * 2 ** 20).fill(97));
  assert.equal(huge.isCut, true);
  assert.equal((await readMail(new Uint8Array())).subject, "");
  assert.ok(long.sizeBytes >= 200_000);
});

Deno.test("readMail() finds the codes that the inboxes find: none in a link or an address", async () => {
  const link = "http://127.0.0.1:48291/mail/confirm/739201";
  const asText = await read(
    `Subject: Your sign-in\n\nVerify by this link:\n${link}\nor 127.0.0.1:8000`,
  );
  assert.deepEqual([asText.codes, asText.links], [[], [link]]);
  const asHtml = await read(
    `Content-Type: text/html\n\n<p>Verify: <a href="${link}">${link}</a>. Your code is 12 34 56.`,
  );
  assert.deepEqual([asHtml.codes, asHtml.links], [["123456"], [link]]);
});

Deno.test("readMail() ends soon for hostile messages", async () => {
  const head = "Content-Type: multipart/mixed; boundary=b\n\n";
  const shapes: Record<string, string> = {
    parts: head + "--b\n\n".repeat(150_000),
    nested: "Content-Type: multipart/mixed; boundary=b\n\n--b\n".repeat(20_000),
    headers: "A: b\n".repeat(200_000),
    "one header": `Subject: ${"=?utf-8?q?x?= ".repeat(70_000)}`,
    folded: `Subject: a${"\n ".repeat(300_000)}b\n\n`,
    addresses: `To: ${"a@b.test, ".repeat(100_000)}\n\nx`,
    groups: `To: ${"g:".repeat(400_000)}\n\nx`,
    quotes: `To: ${'"'.repeat(900_000)}\n\nx`,
    html: `Content-Type: text/html\n\n${"<div>".repeat(200_000)}`,
    entities: `Content-Type: text/html\n\n${"&amp".repeat(250_000)}`,
    open: `Content-Type: text/html\n\n${"<".repeat(1_000_000)}`,
    comments: `Content-Type: text/html\n\n${"<!--".repeat(250_000)}`,
    anchors: `Content-Type: text/html\n\n${"<a href=http://x ".repeat(60_000)}`,
  };
  for (const [name, text] of Object.entries(shapes)) {
    const startMs = performance.now();
    await read(text);
    const tookMs = performance.now() - startMs;
    assert.ok(tookMs < 10_000, `${name} took ${tookMs} ms`);
  }
});
