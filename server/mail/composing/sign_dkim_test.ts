import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { dkimKey, mailToCompose } from "../../../tests/support/outgoing_mail.ts";
import { composeMail } from "./compose_mail.ts";
import { dkimRecordName } from "../../../toolkit/mail/dkim_record.ts";
import { dkimRecord } from "../../../toolkit/node/dkim_key.ts";
import { signDkim } from "./sign_dkim.ts";

async function verdictOf(message: string | Uint8Array): Promise<string> {
  const { results } = await dkimVerify(Buffer.from(message as string), {
    // deno-lint-ignore require-await
    resolver: async (name: string) => {
      assert.equal(name, dkimRecordName(dkimKey()));
      return [[dkimRecord(dkimKey().privateKeyPem)]];
    },
  });
  assert.equal(results.length, 1);
  return results[0]!.status.result;
}

const signed = async (...fields: Parameters<typeof mailToCompose>) =>
  Buffer.from(await composeMail({ ...mailToCompose(...fields), dkim: dkimKey() })).toString();

const MAILS: Record<string, Parameters<typeof mailToCompose>[0]> = {
  "plain": {},
  "a bare CR, tabs and runs of spaces": { text: "a\rb \t  c  \r\n\t\r\n  \nlast  " },
  "empty lines at the end": { text: "a\n\n\n\n" },
  "only white space": { text: " \n \n" },
  "a subject of 998 characters": { subject: "a".repeat(998) },
  "a folded subject": { subject: "many words ".repeat(90).trim() },
  "no subject": { subject: null },
  "many recipients": {
    to: Array.from({ length: 50 }, (_, n) => ({ name: `P, ${n}`, address: `p${n}@example.org` })),
    cc: [{ name: "Ü", address: "u@example.org" }],
  },
  "what looks like a message": { text: "From: eve@example.org\n\nFrom me\n.\n..\n" },
  "HTML and attachments": {
    html: "<p>ü</p>",
    attachments: [{
      filename: "mail.eml",
      contentType: "application/octet-stream",
      contentId: null,
      content: Buffer.from("From: a\r\n\r\nb\rc"),
    }],
  },
  "an answer": { inReplyTo: "a@b.org", references: ["a@b.org"], autoSubmitted: "auto-replied" },
};
for (const [name, fields] of Object.entries(MAILS)) {
  Deno.test(`signDkim() signs ${name} so that mailauth verifies it`, async () => {
    assert.equal(await verdictOf(await signed(fields)), "pass");
  });
}

Deno.test("signDkim() says what decisions hold: rsa-sha256, relaxed, no l=, oversigned", async () => {
  const message = await signed({ cc: [{ name: null, address: "c@example.org" }] });
  const field = message.slice(0, message.indexOf("\r\nFrom: "));
  assert(field.split("\r\n").every((line) => line.length <= 78));
  const tags = Object.fromEntries(
    field.slice("DKIM-Signature:".length).replace(/\s+/g, "").split(";")
      .map((tag) => [tag.slice(0, tag.indexOf("=")), tag.slice(tag.indexOf("=") + 1)]),
  );
  assert.deepEqual(Object.keys(tags).toSorted(), ["a", "b", "bh", "c", "d", "h", "s", "v"]);
  assert.deepEqual([tags["v"], tags["a"], tags["c"]], ["1", "rsa-sha256", "relaxed/relaxed"]);
  assert.deepEqual([tags["d"], tags["s"]], ["agents.test", "relay1"]);
  const names = tags["h"]!.split(":");
  const counts = Object.fromEntries(
    names.map((one) => [one, names.filter((n) => n === one).length]),
  );
  const twice = [
    "from",
    "to",
    "cc",
    "subject",
    "date",
    "message-id",
    "mime-version",
    "content-type",
  ];
  assert.deepEqual(counts, {
    ...Object.fromEntries(twice.map((name) => [name, 2])),
    "reply-to": 1, // not there
    "content-transfer-encoding": 1,
  });
});

Deno.test("signDkim() signs that there is no further field of those that may stand once", async () => {
  const full = {
    cc: [{ name: null, address: "c@example.org" }],
    replyTo: [{ name: null, address: "r@example.org" }],
  };
  const added = [
    "From: eve@example.org",
    "Reply-To: eve@example.org",
    "To: eve@example.org",
    "Cc: eve@example.org",
    "Subject: Other",
    "Date: Thu, 1 Jan 2026 00:00:00 +0000",
    "Message-ID: <eve@example.org>",
    "Content-Type: multipart/mixed; boundary=nope",
    "MIME-Version: 1.0",
  ];
  for (const message of [await signed(), await signed(full), await signed({ subject: null })]) {
    assert.equal(await verdictOf(message), "pass");
    for (const field of added) {
      for (
        const changed of [
          `${field}\r\n${message}`,
          message.replace("\r\nFrom: ", `\r\n${field}\r\nFrom: `),
          message.replace("\r\n\r\n", `\r\n${field}\r\n\r\n`),
        ]
      ) {
        assert.notEqual(changed, message);
        assert.equal(await verdictOf(changed), "fail", field);
      }
    }
  }
});

Deno.test("signDkim() notices a changed or longer body", async () => {
  const message = await signed();
  assert.equal(await verdictOf(message.replace("Bob\r\n", "Eve\r\n")), "neutral");
  assert.equal(await verdictOf(`${message}more\r\n`), "neutral");
  // What relaxed form allows.
  assert.equal(await verdictOf(`${message}\r\n\r\n`), "pass");
  assert.equal(await verdictOf(message.replace("Hello\r\n", "Hello \t\r\n")), "pass");
});

Deno.test("signDkim() throws for a key that cannot sign, and never gives an empty signature", () => {
  const message = Buffer.from("From: a@agents.test\r\n\r\nx\r\n");
  assert.match(signDkim(message, dkimKey()), /b=[A-Za-z0-9+/]{20}/);
  for (const privateKeyPem of ["", "nonsense", dkimKey().privateKeyPem.replace(/M/, "N")]) {
    assert.throws(() => signDkim(message, { ...dkimKey(), privateKeyPem }));
  }
  assert.throws(() => signDkim(Buffer.from("From: a"), dkimKey()), TypeError);
});
