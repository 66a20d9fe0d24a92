import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import PostalMime from "postal-mime";
import fc from "../../../tests/support/seeded_fast_check.ts";
import { CapturedMails } from "./captured_mails.ts";
import { ANSWER_KINDS, type AnswerKind, composeAnswer } from "./compose_answer.ts";
import { readMail } from "./read_mail.ts";

const AT_MS = Date.UTC(2026, 10, 22, 10);
const STAMP = { atMs: AT_MS + 60_000, id: "dev.0123456789abcdef" };

async function captured(
  message: string,
  { from = "bounce+7@agents.test", to = "bob@x.test" } = {},
) {
  const content = Buffer.from(message.replaceAll(/\r?\n/g, "\r\n"));
  const mail = { from, to, content: Uint8Array.from(content) };
  const of = { atMs: AT_MS, result: "sent", content: await readMail(mail.content) } as const;
  return new CapturedMails().add(mail, of);
}

async function answer(
  kind: AnswerKind,
  message: string,
  { text, ...envelope }: { text?: string; from?: string; to?: string } = {},
) {
  const mail = await composeAnswer(kind, await captured(message, envelope), text, STAMP);
  const raw = Buffer.from(mail.raw).toString("latin1");
  return { ...mail, text: raw, read: await PostalMime.parse(mail.raw) };
}

const MAIL = `From: =?utf-8?q?Ad=C3=A4?= <ada@agents.test>
To: bob@x.test
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Message-ID: <two@agents.test>
References: <zero@x.test>
 <one@x.test>
Content-Type: text/plain; charset=utf-8

How are you?

Ada
`;

Deno.test("composeAnswer() writes a reply from the recipient, in the conversation, with the mail quoted", async () => {
  const { from, to, read } = await answer("reply", MAIL, { text: "Very well, Ä." });
  assert.deepEqual([from, to], ["bob@x.test", ["ada@agents.test"]]);
  assert.deepEqual(read.from, { name: "", address: "bob@x.test" });
  assert.deepEqual(read.to, [{ name: "", address: "ada@agents.test" }]);
  assert.equal(read.subject, "Re: Grüße");
  assert.equal(read.inReplyTo, "<two@agents.test>");
  assert.equal(read.references, "<zero@x.test> <one@x.test> <two@agents.test>");
  assert.equal(read.messageId, "<dev.0123456789abcdef@x.test>");
  assert.equal(read.date, "2026-11-22T10:01:00.000Z");
  assert.equal(
    read.text!.trimEnd(),
    "Very well, Ä.\n\nOn Sun, 22 Nov 2026 10:00:00 GMT, Adä <ada@agents.test> wrote:\n" +
      "> How are you?\n>\n> Ada",
  );
  assert.match((await answer("reply", MAIL)).read.text!, /^This is a reply that local mode wrote/);
});

Deno.test("composeAnswer() sends a reply to Reply-To, and adds no second Re:", async () => {
  const more = `Reply-To: list: c@y.test, "D" <d@y.test>;, <no address>, c@y.test\n`;
  const { to, read } = await answer("reply", more + MAIL.replace(/Subject.*/, "Subject: RE: hi"));
  assert.deepEqual(to, ["c@y.test", "d@y.test"]);
  assert.equal(read.subject, "RE: hi");
  await assert.rejects(answer("reply", "Subject: x\n\nx"), { code: "not_found" });
  await assert.rejects(answer("reply", "From: nobody\n\nx"), { code: "not_found" });
});

Deno.test("composeAnswer() keeps the first of many references, and the last", async () => {
  const ids = Array.from({ length: 70 }, (_, i) => `<${i}@x.test>`);
  const long = MAIL.replace(/References: .*\n .*/, `References: ${ids.join("\n ")}`);
  const { read } = await answer("reply", long);
  const kept = read.references!.split(/\s+/);
  assert.equal(kept.length, 50);
  assert.deepEqual([kept[0], kept[1], kept.at(-1)], [
    "<0@x.test>",
    "<22@x.test>",
    "<two@agents.test>",
  ]);
  const none = await answer("reply", "From: a@agents.test\n\nx");
  assert.doesNotMatch(none.text, /^(?:In-Reply-To|References):/m);
  assert.equal(none.read.subject, "Re:");
});

Deno.test("composeAnswer() writes a bounce as RFC 3464 has it, to the envelope sender", async () => {
  const { from, to, text, read } = await answer("bounce", `X-Raw: \u00e4\n${MAIL}`);
  assert.deepEqual([from, to], ["", ["bounce+7@agents.test"]]);
  assert.match(
    text,
    /^Content-Type: multipart\/report; report-type=delivery-status;\r?\n boundary="/m,
  );
  assert.deepEqual(read.from, { name: "Mail Delivery System", address: "mailer-daemon@x.test" });
  assert.equal(read.references, "<zero@x.test> <one@x.test> <two@agents.test>");
  const boundary = /boundary="([^"]+)"/.exec(text)![1];
  const parts = text.split(`\r\n--${boundary}`).slice(1).map((part) => part.replace(/^\r\n/, ""));
  assert.equal(parts.length, 4, "three parts and the end");
  assert.match(parts[0]!, /^Content-Type: text\/plain; charset=utf-8\r\n[^]*550 5\.1\.1 no such/);
  const [head, perMessage, perRecipient] = parts[1]!.split("\r\n\r\n");
  assert.equal(head, "Content-Type: message/delivery-status");
  assert.match(perMessage!, /^Reporting-MTA: dns; x\.test\r\n/);
  assert.deepEqual(perRecipient!.trimEnd().split("\r\n"), [
    "Final-Recipient: rfc822; bob@x.test",
    "Action: failed",
    "Status: 5.1.1",
    "Diagnostic-Code: smtp; 550 5.1.1 no such user here",
    "Last-Attempt-Date: Sun, 22 Nov 2026 10:01:00 +0000",
  ]);
  assert.match(
    parts[2]!,
    /^Content-Type: text\/rfc822-headers\r\n\r\nX-Raw: \?\?\r\nFrom: =\?utf-8/,
  );
  assert.match(parts[2]!, /\r\nReferences: <zero@x\.test>\r\n <one@x\.test>\r\n/);
  assert.doesNotMatch(parts[2]!, /How are you/);
  assert.equal(parts[3], "--\r\n");
});

Deno.test("composeAnswer() writes an out-of-office answer as RFC 3834 has it, to the envelope sender", async () => {
  const { from, to, text, read } = await answer("out_of_office", MAIL);
  assert.deepEqual([from, to], ["", ["bounce+7@agents.test"]]);
  assert.match(text, /^Auto-Submitted: auto-replied\r$/m);
  assert.equal(read.subject, "Automatic reply: Grüße");
  assert.equal(read.inReplyTo, "<two@agents.test>");
  assert.match(read.text!, /^I am out of the office/);
  const own = await answer("out_of_office", MAIL, { text: "Back on Monday." });
  assert.equal(own.read.text!.trimEnd(), "Back on Monday.");
});

Deno.test("composeAnswer() never answers the null sender by a program", async () => {
  for (const kind of ["bounce", "out_of_office"] as const) {
    await assert.rejects(answer(kind, MAIL, { from: "" }), { code: "not_found" });
  }
  assert.deepEqual((await answer("reply", MAIL, { from: "" })).to, ["ada@agents.test"]);
});

Deno.test("composeAnswer() composes ASCII in lines that end, whatever was captured", async () => {
  const line = fc.string({ unit: fc.constantFrom(...'abz <>@,;:"\\=?\u00e4\t\r\u0000') });
  const names = fc.constantFrom(
    "Subject",
    "From",
    "Reply-To",
    "References",
    "Message-ID",
    "X",
    " ",
  );
  const fields = fc.array(fc.tuple(names, line), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fields, line, fc.constantFrom(...ANSWER_KINDS), async (given, body, kind) => {
      const header = given.map(([name, value]) => `${name}: ${value}\n`).join("");
      const { text } = await answer(kind, `${header}From: a@agents.test\n\n${body}`).catch(
        (error) => {
          assert.equal(error.code, "not_found");
          return { text: "\r\n" };
        },
      );
      for (const one of text.split("\r\n")) {
        // deno-lint-ignore no-control-regex
        assert.ok(one.length <= 998 && /^[\x09\x20-\x7e]*$/.test(one), JSON.stringify(one));
      }
    }),
    { numRuns: 200 },
  );
});
