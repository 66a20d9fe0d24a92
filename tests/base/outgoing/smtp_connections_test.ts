import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Mailer, MailOutcome } from "../../../server/base/mailer/mailer.ts";
import {
  createSmtpMailer,
  type SmtpMailerOptions,
} from "../../../server/base/mailer/smtp_mailer.ts";
import { delay } from "../../support/pace.ts";
import { type ScriptedSmtp, startScriptedSmtp } from "../../support/scripted_smtp.ts";

const TIMING = {
  connectMs: 60_000,
  replyMs: 60_000,
  finalReplyMs: 60_000,
  quitMs: 100,
  idleMs: 60_000,
};
const SMALL = Buffer.from("Subject: greeting\r\n\r\nhello\r\n");

async function withMailer(
  options: Partial<SmtpMailerOptions>,
  test: (smtp: ScriptedSmtp, mailer: Mailer) => Promise<void>,
): Promise<void> {
  await using smtp = startScriptedSmtp();
  const next = { host: "127.0.0.1", port: smtp.port, secure: false };
  const mailer = createSmtpMailer({
    smtp: next,
    ehloName: "relay.example.org",
    timing: TIMING,
    ...options,
  });
  try {
    await test(smtp, mailer);
  } finally {
    await mailer.close();
    await delay(1);
  }
}

function send(
  mailer: Mailer,
  {
    content = SMALL,
    beforeContent = () => Promise.resolve(),
    signal = new AbortController().signal,
  }: {
    content?: Uint8Array;
    beforeContent?: () => Promise<void>;
    signal?: AbortSignal;
  } = {},
): Promise<MailOutcome> {
  const mail = { from: "relay@example.org", to: "reader@example.org", content };
  return mailer.send(mail, { beforeContent, signal });
}

Deno.test("Mailer.send() takes one connection for mails that follow each other, with RSET between", () =>
  withMailer({}, async (smtp, mailer) => {
    for (let i = 0; i < 5; i++) assert.equal((await send(mailer)).result, "sent");
    assert.deepEqual([smtp.sessions(), smtp.count("RSET"), smtp.contents.length], [1, 4, 5]);
  }));

Deno.test("Mailer.send() keeps the connection after refusals in order, but for those of content", () =>
  withMailer({}, async (smtp, mailer) => {
    for (const step of ["MAIL", "RCPT", "DATA", "content"] as const) {
      smtp.script({ [step]: { reply: "550 5.7.1 no" } });
      const outcome = await send(mailer);
      assert.ok(outcome.result === "refused" && outcome.permanent && outcome.isReached, step);
      assert.deepEqual(outcome.reply, { code: 550, enhancedCode: "5.7.1", text: "no" });
    }
    smtp.script({});
    assert.equal((await send(mailer)).result, "sent");
    // Nobody can tell for sure whether a refusal of content came at its end.
    assert.equal(smtp.sessions(), 2);
  }));

Deno.test("a connection that broke while it waited is no attempt", () =>
  withMailer({}, async (smtp, mailer) => {
    await send(mailer);
    smtp.cutAll();
    assert.equal((await send(mailer)).result, "sent");
    await delay(50); // the end of the connection is noticed
    assert.equal((await send(mailer)).result, "sent");
    assert.equal(smtp.contents.length, 3);
    assert.equal(smtp.sessions(), 2);
  }));

for (const step of ["RSET", "MAIL", "RCPT"] as const) {
  Deno.test(`421 at ${step} on a connection that was kept: a new one is tried at once`, () =>
    withMailer({}, async (smtp, mailer) => {
      await send(mailer);
      smtp.script({ [step]: { reply: "421 too many mails" } });
      void smtp.reached(step).then(() => smtp.script({}));
      assert.equal((await send(mailer)).result, "sent");
      assert.equal(smtp.sessions(), 2);
      // On a new one it is what the next hop says.
      smtp.cutAll();
      if (step === "RSET") return;
      smtp.script({ [step]: { reply: "421 busy" } });
      const outcome = await send(mailer);
      assert.ok(outcome.result === "refused" && !outcome.permanent);
      assert.equal(outcome.reply?.code, 421);
    }));
}

Deno.test("a reply after the content was begun is never tried again by itself", () =>
  withMailer({}, async (smtp, mailer) => {
    await send(mailer);
    let asked = 0;
    const beforeContent = () => Promise.resolve(void asked++);
    smtp.script({ content: { reply: "421 closing" } });
    const refused = await send(mailer, { beforeContent });
    assert.ok(refused.result === "refused" && refused.reply?.code === 421);
    smtp.script({ content: "cut" });
    assert.equal((await send(mailer, { beforeContent })).result, "unknown");
    assert.equal(asked, 2);
  }));

Deno.test("Mailer.send() opens no more connections than it may, and hands them on", () =>
  withMailer({ connections: 2 }, async (smtp, mailer) => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => send(mailer)));
    assert.deepEqual(outcomes.map(({ result }) => result), Array(20).fill("sent"));
    assert.deepEqual([smtp.sessions(), smtp.mostSessions()], [2, 2]);
  }));

Deno.test("Mailer.send() given up while it waits for a connection leaves the line", () =>
  withMailer({ connections: 1 }, async (smtp, mailer) => {
    smtp.script({ RCPT: "silence" });
    const first = send(mailer);
    await smtp.reached("RCPT");
    const abort = new AbortController();
    const second = send(mailer, { signal: abort.signal });
    abort.abort();
    assert.deepEqual(await second, {
      result: "refused",
      stage: "connection",
      permanent: false,
      reason: "given up",
      reply: null,
      isReached: false,
    });
    smtp.script({});
    smtp.release("250 ok");
    assert.equal((await first).result, "sent");
    assert.equal((await send(mailer)).result, "sent");
  }));

Deno.test("a connection that waits longer than idleMs is ended with QUIT", () =>
  withMailer({ timing: { ...TIMING, idleMs: 20 } }, async (smtp, mailer) => {
    await send(mailer);
    await delay(200);
    assert.equal((await send(mailer)).result, "sent");
    assert.equal(smtp.sessions(), 2);
  }));

Deno.test("with PIPELINING a refused sender or recipient is told as such", () =>
  withMailer({}, async (smtp, mailer) => {
    const EHLO = { reply: "250-scripted\r\n250 PIPELINING" };
    const cases = [
      [
        { MAIL: { reply: "550 5.7.1 no" }, RCPT: { reply: "503 no" }, DATA: { reply: "503 no" } },
        "sender",
      ],
      [{ RCPT: { reply: "550 5.1.1 who" }, DATA: { reply: "554 none" } }, "recipient"],
      // Some take DATA all the same; nothing is handed over.
      [{ RCPT: { reply: "550 5.1.1 who" } }, "recipient"],
      [{ DATA: { reply: "451 later" } }, "content"],
    ] as const;
    for (const [script, stage] of cases) {
      smtp.script({ EHLO, ...script });
      const outcome = await send(mailer, {
        beforeContent: () => Promise.reject(new Error("asked")),
      });
      assert.ok(outcome.result === "refused" && outcome.stage === stage, JSON.stringify(outcome));
    }
    smtp.script({ EHLO });
    assert.equal((await send(mailer)).result, "sent");
    assert.deepEqual(smtp.contents.filter((content) => content !== "").length, 1);
  }));

Deno.test("a mail above the size that is offered is refused by the next hop's own reply", () =>
  withMailer({}, async (smtp, mailer) => {
    smtp.script({
      EHLO: { reply: "250-scripted\r\n250 SIZE 10" },
      content: { reply: "552 5.3.4 too large" },
    });
    const outcome = await send(mailer);
    assert.ok(outcome.result === "refused" && outcome.stage === "content" && outcome.permanent);
    assert.equal(outcome.reply?.enhancedCode, "5.3.4");
  }));

Deno.test("a reply before the content has ended: a refusal is one, anything else is unknown", () =>
  withMailer({}, async (smtp, mailer) => {
    const content = Buffer.alloc(4_000_000, "x".repeat(70) + "\r\n");
    for (
      const [reply, result] of [["552 5.3.4 too large", "refused"], ["250 ok", "unknown"]] as const
    ) {
      smtp.script({ DATA: { reply: "354 go on" } });
      const outcome = await send(mailer, {
        content,
        beforeContent() {
          smtp.sayToAll(reply);
          return Promise.resolve();
        },
      });
      assert.equal(outcome.result, result, reply);
    }
    smtp.script({});
    assert.equal((await send(mailer)).result, "sent");
    assert.equal(smtp.sessions(), 3);
  }));

Deno.test("a next hop that goes on for ever, a little at a time, is left after wholeMs", () =>
  withMailer({ timing: { ...TIMING, wholeMs: 400 } }, async (smtp, mailer) => {
    smtp.script({ RCPT: "silence" });
    const sending = send(mailer);
    await smtp.reached("RCPT");
    const dripping = setInterval(() => smtp.sayToAll("250-still here"), 50);
    try {
      const outcome = await sending;
      assert.ok(outcome.result === "refused" && outcome.reply === null, JSON.stringify(outcome));
      assert.match(outcome.reason, /^ETIMEDOUT/);
    } finally {
      clearInterval(dripping);
    }
  }));

Deno.test("content arrives byte for byte, whatever its size", () =>
  withMailer({}, async (smtp, mailer) => {
    for (const size of [0, 1, 65_536, 65_537, 300_000]) {
      const line = ".a line with a dot\r\n";
      const content = Buffer.from(line.repeat(Math.ceil(size / line.length)));
      assert.equal((await send(mailer, { content })).result, "sent");
      const received = `${smtp.contents.at(-1)!}\r\n`.replaceAll(/^\.\./gm, ".");
      assert.equal(received, size === 0 ? "\r\n" : content.toString());
    }
  }));

Deno.test("Mailer.send() has a connection for mail and for a link, however many notices hang", () =>
  withMailer({ connections: 4 }, async (smtp, mailer) => {
    const use = (use: "link" | "notice" | "mail") =>
      mailer.send(
        { from: "relay@example.org", to: `${use}@example.org`, content: SMALL, use },
        { beforeContent: () => Promise.resolve(), signal: new AbortController().signal },
      );
    const hangs = async (count: number) => {
      while (smtp.count("content") < count) await delay(5);
    };
    smtp.hangAfter(/notice|mail@/);
    const sent = Array.from({ length: 10 }, () => use("notice"));
    await hangs(1);
    sent.push(...Array.from({ length: 10 }, () => use("mail")));
    await hangs(3);
    assert.equal((await use("link")).result, "sent");
    assert.equal(smtp.contents.length, 4, "one notice, two mails and the link");
    smtp.hangAfter(/^$/);
    smtp.release("250 stored");
    assert.deepEqual((await Promise.all(sent)).map(({ result }) => result), Array(20).fill("sent"));
    assert.ok(smtp.mostSessions() <= 4);
  }));
