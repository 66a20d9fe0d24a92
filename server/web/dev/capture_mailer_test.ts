import assert from "node:assert/strict";
import { createCaptureMailer } from "./capture_mailer.ts";
import { readMail } from "./read_mail.ts";
import { CapturedMails } from "./captured_mails.ts";

const content = new TextEncoder().encode("Subject: hello\r\n\r\nYour code is 123456.\r\n");

function rig() {
  const mails = new CapturedMails();
  const mailer = createCaptureMailer(mails, () => 1_000, readMail);
  let asked = 0;
  return {
    mails,
    asked: () => asked,
    send: (to: string, { refusal, signal = new AbortController().signal }: {
      refusal?: Error;
      signal?: AbortSignal;
    } = {}) =>
      mailer.send({ from: "relay@relay.test", to, content }, {
        signal,
        beforeContent() {
          asked++;
          return refusal === undefined ? Promise.resolve() : Promise.reject(refusal);
        },
      }),
  };
}

Deno.test("the capture mailer has mail for anybody, and keeps it as it was sent", async () => {
  const { mails, send, asked } = rig();
  assert.deepEqual(await send("bob@example.net"), {
    result: "sent",
    reason: "250 at DATA",
    reply: { code: 250, enhancedCode: null, text: "captured" },
  });
  const [mail] = mails.newestFirst;
  assert.deepEqual(
    [mail!.number, mail!.atMs, mail!.from, mail!.to, mail!.result, mail!.content.subject],
    [1, 1_000, "relay@relay.test", "bob@example.net", "sent", "hello"],
  );
  assert.deepEqual(mail!.raw, content);
  assert.deepEqual(mail!.content.codes, ["123456"]);
  assert.equal(asked(), 1);
});

Deno.test("the capture mailer refuses at RCPT for bounce.test and defer.test, before any content", async () => {
  const { mails, send, asked } = rig();
  assert.deepEqual(await send("bob@bounce.test"), {
    result: "refused",
    stage: "recipient",
    permanent: true,
    reason: "550 5.1.1 at RCPT TO",
    reply: { code: 550, enhancedCode: "5.1.1", text: "no such user here" },
    isReached: true,
  });
  assert.deepEqual(await send("Bob@Defer.TEST"), {
    result: "refused",
    stage: "recipient",
    permanent: false,
    reason: "451 at RCPT TO",
    reply: { code: 451, enhancedCode: null, text: "try again later" },
    isReached: true,
  });
  assert.equal(asked(), 0);
  assert.deepEqual(mails.newestFirst, []);
  for (const to of ["bob@sub.bounce.test", "bounce.test@example.net", "bob@constructor"]) {
    assert.equal((await send(to)).result, "sent", to);
  }
});

Deno.test("the capture mailer takes mail for unknown.test after it asked, and never replies", async () => {
  const { mails, send, asked } = rig();
  assert.equal((await send("bob@unknown.test")).result, "unknown");
  assert.equal(asked(), 1);
  assert.deepEqual(mails.newestFirst.map(({ result }) => result), ["unknown"]);
});

Deno.test("the capture mailer keeps nothing that was withdrawn or given up", async () => {
  const { mails, send } = rig();
  const refusal = new Error("withdrawn");
  for (const to of ["bob@example.net", "bob@unknown.test"]) {
    await assert.rejects(send(to, { refusal }), (error) => error === refusal);
  }
  const outcome = await send("bob@example.net", { signal: AbortSignal.abort() });
  assert.deepEqual([outcome.result, "stage" in outcome && outcome.stage], [
    "refused",
    "connection",
  ]);
  assert.deepEqual(mails.newestFirst, []);
});
