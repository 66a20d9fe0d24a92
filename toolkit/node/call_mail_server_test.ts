import assert from "node:assert/strict";
import { TLSSocket } from "node:tls";
import { startScriptedSmtp } from "../../tests/support/scripted_smtp.ts";
import { startSmtpServer } from "../../tests/support/smtp_server.ts";
import { callMailServer } from "./call_mail_server.ts";

/** What smtp-server does for STARTTLS needs it, and Deno 2.5 does not have it. */
const testTls = "getProtocol" in TLSSocket.prototype ? Deno.test : Deno.test.ignore;

const HOST = "127.0.0.1";
const MAIL = { from: "a@b.test", to: "c@d.test", message: "Subject: x\r\n\r\n.dot\r\n..\r\n" };
const call = (port: number, more: Partial<Parameters<typeof callMailServer>[0]> = {}) =>
  callMailServer({ host: HOST, port, helo: "me.test", timeoutMs: 10_000, ...more });

testTls("callMailServer() hands a mail over with TLS, whoever signed the certificate", async () => {
  await using server = await startSmtpServer({ disabledCommands: ["AUTH"] });
  const { offers, tls, answered } = await call(server.port, { mail: MAIL });
  assert.ok(offers.includes("STARTTLS"));
  assert.match(tls!.version, /^TLSv1\.[23]$/);
  assert.match(tls!.distrust!, /SELF_SIGNED/);
  assert.deepEqual([answered.step, answered.reply.code], ["the message", 250]);
  const [mail] = server.received;
  assert.deepEqual([mail!.from, mail!.to, mail!.ehlo, mail!.tls], [
    MAIL.from,
    [MAIL.to],
    "me.test",
    true,
  ]);
  assert.equal(mail!.content.toString(), MAIL.message);
});

Deno.test("callMailServer() without a mail asks what is offered, and begins none", async () => {
  await using server = await startSmtpServer();
  const { greeting, offers, tls, answered } = await call(server.port);
  assert.match(greeting, /ESMTP/);
  assert.ok(offers.includes("PIPELINING"));
  assert.deepEqual([tls, answered.step, answered.reply.code], [null, "EHLO", 250]);
  assert.equal(server.transactions(), 0);
});

Deno.test("callMailServer() stops at the first refusal, and says what it is to", async () => {
  await using server = startScriptedSmtp();
  const cases = [
    ["greeting", "554 no", "the connection"],
    ["EHLO", "502 no", "EHLO"],
    ["MAIL", "451 later", "MAIL"],
    ["RCPT", "550-5.1.1 nobody\r\n550 5.1.1 here", "RCPT"],
    ["DATA", "554 no", "DATA"],
    ["content", "552 too large", "the message"],
  ] as const;
  for (const [at, reply, step] of cases) {
    server.script({ [at]: { reply } });
    const { answered } = await call(server.port, { mail: MAIL });
    assert.deepEqual([answered.step, answered.reply.code], [step, Number(reply.slice(0, 3))]);
  }
  server.script({ RCPT: { reply: cases[3][1] } });
  const { answered } = await call(server.port, { mail: MAIL });
  assert.equal(answered.reply.text, "5.1.1 nobody\n5.1.1 here");
});

Deno.test("callMailServer() rejects in its time where nobody answers, hangs up, or speaks another language", async () => {
  await using server = startScriptedSmtp();
  server.script({ EHLO: "silence" });
  await assert.rejects(call(server.port, { timeoutMs: 50 }), /did not answer in time/);
  server.script({ RCPT: "cut" });
  await assert.rejects(call(server.port, { mail: MAIL }), /closed the connection/);
  server.script({ greeting: { reply: "SSH-2.0-x\r\n220 x" } });
  await assert.rejects(call(server.port), /no reply of SMTP/);
  server.script({ greeting: { reply: "x".repeat(20_000) } });
  await assert.rejects(call(server.port), /no end/);
  const listener = Deno.listen({ hostname: HOST, port: 0 });
  const { port } = listener.addr;
  listener.close();
  await assert.rejects(call(port));
});
