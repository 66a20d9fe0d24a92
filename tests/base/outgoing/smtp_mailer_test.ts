import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import { TLSSocket } from "node:tls";
import type { MailOutcome } from "../../../server/base/mailer/mailer.ts";
import {
  createSmtpMailer,
  type SmtpMailerOptions,
} from "../../../server/base/mailer/smtp_mailer.ts";
import { delay } from "../../support/pace.ts";
import {
  type ScriptedSmtp,
  type SmtpFault,
  type SmtpStep,
  startScriptedSmtp,
} from "../../support/scripted_smtp.ts";
import { startSmtpServer } from "../../support/smtp_server.ts";

const MAIL = {
  from: "relay@example.org",
  to: "reader@example.org",
  content: Buffer.from("Subject: greeting\r\n\r\n.leading dot\r\nlast line\r\n"),
};
const TIMING = { connectMs: 60_000, replyMs: 60_000, finalReplyMs: 60_000, quitMs: 100 };

/** For a next hop that says nothing at a step: short enough to wait for there, and nowhere else. */
function impatientAt(step: SmtpStep): typeof TIMING {
  return step === "content" ? { ...TIMING, finalReplyMs: 500 } : { ...TIMING, replyMs: 500 };
}
/** Reaches this machine by an address that does not count as loopback. */
const ANOTHER_HOST = "0.0.0.0";

interface Sent {
  outcome: MailOutcome;
  /** Times beforeContent was called. */
  asked: number;
}

async function send(
  options: Partial<SmtpMailerOptions> & { smtp: SmtpMailerOptions["smtp"] },
  { beforeContent = () => Promise.resolve(), signal = new AbortController().signal } = {},
): Promise<Sent> {
  const mailer = createSmtpMailer({ ehloName: "relay.example.org", timing: TIMING, ...options });
  let asked = 0;
  try {
    const outcome = await mailer.send(MAIL, {
      beforeContent() {
        asked++;
        return beforeContent();
      },
      signal,
    });
    return { outcome, asked };
  } finally {
    await mailer.close();
    await delay(1); // Deno 2.5 lets go of a closed socket's timers a turn of the event loop later
  }
}

/** Asserts these members of an outcome and leaves the others open. */
function assertHas(outcome: MailOutcome, expected: Partial<MailOutcome>): void {
  const found = Object.entries(outcome).filter(([name]) => Object.hasOwn(expected, name));
  assert.deepEqual(Object.fromEntries(found), expected);
}

const plain = (port: number) => ({ smtp: { host: "127.0.0.1", port, secure: false } });

Deno.test("Mailer.send() hands content and envelope to a real server, greeting with its name", async () => {
  await using server = await startSmtpServer();
  const { outcome, asked } = await send(plain(server.port));
  assert.equal(outcome.result, "sent");
  assert.equal(asked, 1);
  const [mail] = server.received;
  assert.deepEqual(
    { from: mail!.from, to: mail!.to, ehlo: mail!.ehlo },
    { from: MAIL.from, to: [MAIL.to], ehlo: "relay.example.org" },
  );
  assert.equal(mail!.content.toString(), MAIL.content.toString());
});

Deno.test("Mailer.send() asks before the content, after the next hop said 354", async () => {
  await using server = startScriptedSmtp();
  const order: string[] = [];
  void server.reached("DATA").then(() => order.push("354"));
  void server.reached("content").then(() => order.push("content"));
  await send(plain(server.port), {
    beforeContent() {
      order.push("asked");
      return Promise.resolve();
    },
  });
  assert.deepEqual(order, ["354", "asked", "content"]);
});

Deno.test("Mailer.send() sends nothing of the content when it is withdrawn", async () => {
  await using server = startScriptedSmtp();
  const withdrawn = new Error("unsubscribed meanwhile");
  const sending = send(plain(server.port), { beforeContent: () => Promise.reject(withdrawn) });
  await assert.rejects(sending, (error) => error === withdrawn);
  assert.deepEqual(server.contents, []);
});

const refusals: [SmtpStep, SmtpFault, Partial<MailOutcome>][] = [
  ["greeting", { reply: "554 no" }, { stage: "connection", permanent: true }],
  ["greeting", { reply: "421 busy" }, { stage: "connection", permanent: false }],
  ["greeting", "cut", { stage: "connection", permanent: false }],
  ["EHLO", "cut", { stage: "connection", permanent: false }],
  ["EHLO", "silence", { stage: "connection", permanent: false }],
  ["MAIL", { reply: "451 later" }, { stage: "sender", permanent: false }],
  ["MAIL", { reply: "550 no" }, { stage: "sender", permanent: true }],
  ["MAIL", "silence", { stage: "connection", permanent: false }],
  ["RCPT", { reply: "450 later" }, { stage: "recipient", permanent: false }],
  ["RCPT", { reply: "550 5.1.1 unknown" }, { stage: "recipient", permanent: true }],
  ["RCPT", { reply: "421 closing" }, { permanent: false }],
  ["RCPT", "cut", { stage: "connection", permanent: false }],
  ["DATA", { reply: "451 later" }, { stage: "content", permanent: false }],
  ["DATA", { reply: "554 no" }, { stage: "content", permanent: true }],
  ["DATA", "cut", { stage: "connection", permanent: false }],
  ["DATA", "silence", { stage: "connection", permanent: false }],
  ["content", { reply: "452 full" }, { stage: "content", permanent: false }],
  ["content", { reply: "554 no" }, { stage: "content", permanent: true }],
  ["content", { reply: "421 closing" }, { permanent: false }],
];
for (const [step, fault, expected] of refusals) {
  const what = typeof fault === "string" ? fault : fault.reply;
  Deno.test(`Mailer.send() is refused by ${what} at ${step}`, async () => {
    await using server = startScriptedSmtp();
    server.script({ [step]: fault });
    const timing = fault === "silence" ? impatientAt(step) : TIMING;
    const { outcome } = await send({ ...plain(server.port), timing });
    assert.equal(outcome.result, "refused");
    assertHas(outcome, expected);
    assert.match(outcome.reason, /^(\d{3}|E[A-Z]+)( at [A-Z ]+)?$/, "no text of the other side");
  });
}

for (const fault of ["cut", "silence"] as const) {
  Deno.test(`Mailer.send() does not know after ${fault} instead of the final reply`, async () => {
    await using server = startScriptedSmtp();
    server.script({ content: fault });
    const timing = fault === "silence" ? impatientAt("content") : TIMING;
    const { outcome, asked } = await send({ ...plain(server.port), timing });
    assert.equal(outcome.result, "unknown");
    assert.equal(asked, 1);
    assert.equal(server.contents.length, 1);
  });
}

Deno.test("Mailer.send() knows that a connection cut before the content was whole delivered nothing", async () => {
  await using server = startScriptedSmtp();
  const { outcome } = await send(plain(server.port), {
    beforeContent() {
      server.cutAll();
      return delay(300); // by then it has noticed
    },
  });
  assert.equal(outcome.result, "refused");
});

Deno.test("Mailer.send() is refused where nothing listens", async () => {
  const server = startScriptedSmtp();
  await server[Symbol.asyncDispose]();
  const { outcome } = await send(plain(server.port));
  assertHas(outcome, { result: "refused", stage: "connection" });
});

for (
  const [step, result] of [["greeting", "refused"], ["RCPT", "refused"], [
    "content",
    "unknown",
  ]] as [
    SmtpStep,
    string,
  ][]
) {
  Deno.test(`Mailer.send() given up at ${step} is ${result}`, async () => {
    await using server = startScriptedSmtp();
    server.script({ [step]: "silence" });
    const abort = new AbortController();
    void reachedThenAbort(server, step, abort);
    const { outcome } = await send(plain(server.port), { signal: abort.signal });
    assert.equal(outcome.result, result);
  });
}

async function reachedThenAbort(server: ScriptedSmtp, step: SmtpStep, abort: AbortController) {
  await server.reached(step);
  abort.abort();
}

Deno.test("Mailer.send() given up beforehand connects to nobody", async () => {
  await using server = startScriptedSmtp();
  const { outcome } = await send(plain(server.port), { signal: AbortSignal.abort() });
  assert.equal(outcome.result, "refused");
  assert.equal(server.sessions(), 0);
});

const certificate = async (name: string) =>
  await readFile(new URL(`./certificates/${name}.pem`, import.meta.url), "utf8");
const tlsFiles = async () => ({
  key: await certificate("server_key"),
  cert: await certificate("server"),
});

/** smtp-server asks its TLS sockets what older runtimes cannot tell. */
const SERVES_STARTTLS = "getProtocol" in TLSSocket.prototype;

function startTlsTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, ignore: !SERVES_STARTTLS });
}

startTlsTest("a loopback next hop: STARTTLS where offered, certificate not checked", async () => {
  await using server = await startSmtpServer(await tlsFiles());
  const { outcome } = await send(plain(server.port));
  assert.equal(outcome.result, "sent");
  assert.equal(server.received[0]!.tls, true);
});

Deno.test("another next hop: without STARTTLS nothing is sent", async () => {
  await using server = await startSmtpServer();
  const { outcome } = await send({
    smtp: { host: ANOTHER_HOST, port: server.port, secure: false },
  });
  assertHas(outcome, { result: "refused", stage: "connection" });
  assert.equal(server.received.length, 0);
});

startTlsTest("another next hop by smtp: the certificate is checked", async () => {
  await using server = await startSmtpServer(await tlsFiles());
  const { outcome } = await send({
    smtp: { host: ANOTHER_HOST, port: server.port, secure: false },
  });
  assertHas(outcome, { result: "refused", stage: "connection" });
  assert.equal(server.received.length, 0);
});

startTlsTest("another next hop by smtp: its certificate may rest on RELAY_SMTP_CA", async () => {
  await using server = await startSmtpServer(await tlsFiles());
  const smtp = { host: ANOTHER_HOST, port: server.port, secure: false };
  const { outcome } = await send({ smtp, caPem: await certificate("ca") });
  assertHas(outcome, { result: "sent", reason: "250 at DATA" });
  assert.equal(server.received[0]!.tls, true);
});

Deno.test("a loopback next hop by smtps: the certificate is not checked", async () => {
  await using server = startScriptedSmtp(await tlsFiles());
  const { outcome } = await send({ smtp: { host: "127.0.0.1", port: server.port, secure: true } });
  assert.equal(outcome.result, "sent");
});

Deno.test("another next hop by smtps: the certificate is checked", async () => {
  await using server = startScriptedSmtp(await tlsFiles());
  const smtp = { host: ANOTHER_HOST, port: server.port, secure: true };
  const { outcome } = await send({ smtp });
  assertHas(outcome, { result: "refused", stage: "connection" });
  assert.deepEqual(server.contents, []);
});

Deno.test("another next hop by smtps: its certificate may rest on RELAY_SMTP_CA", async () => {
  await using server = startScriptedSmtp(await tlsFiles());
  const smtp = { host: ANOTHER_HOST, port: server.port, secure: true };
  const { outcome } = await send({ smtp, caPem: await certificate("ca") });
  assertHas(outcome, { result: "sent", reason: "250 at DATA" });
  assert.equal(server.contents.length, 1);
});

Deno.test("Mailer.send() logs in with the configured user and password", async () => {
  await using server = await startSmtpServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    authOptional: false,
    onAuth({ username, password }, _session, done) {
      if (username === "relay" && password === "p@ss") return done(null, { user: username });
      done(new Error("wrong"));
    },
  });
  const smtp = { host: "127.0.0.1", port: server.port, secure: false, user: "relay" };
  const right = await send({ smtp: { ...smtp, password: "p@ss" } });
  assert.equal(right.outcome.result, "sent");
  assert.equal(server.received[0]!.user, "relay");
  const wrong = await send({ smtp: { ...smtp, password: "wrong-p@ss" } });
  assertHas(wrong.outcome, { result: "refused", stage: "connection" });
  assert.doesNotMatch(JSON.stringify(wrong.outcome), /p@ss|cEBzcw/);
});
