/** Mail that comes straight from the internet, into the inboxes of a relay. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createTransport } from "nodemailer";
import { ask } from "../../support/answer.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { settlesWithin } from "../../support/pace.ts";
import { partOrSkip } from "../../support/part.ts";
import { silentStore } from "../../support/silent_store.ts";
import { openSmtpClient, sendBySmtp, smtpPortOf } from "../../support/smtp_client.ts";
import { makeBounceAddress } from "../../../server/mail/composing/bounce_address.ts";
import { parseConfig } from "../../../server/base/config/config.ts";
import type { TestRelayOptions } from "../../support/relay.ts";

/** A relay with an inbox, reached by SMTP. */
async function startRig(options: TestRelayOptions = {}, inbox: Record<string, unknown> = {}) {
  const relay = await startMailRelay(options);
  const holder = await newOrg(relay);
  const ada = await holder.inbox({ local_part: "ada", ...inbox });
  const port = smtpPortOf(relay);
  return {
    relay,
    holder,
    ada,
    port,
    send: (raw: string, to = [ada.address]) => sendBySmtp(port, { to, raw }),
    list: async () =>
      accepted(await holder.ask("GET", `/v1/mail/inboxes/${ada.id}/messages`), 200).data,
    [Symbol.asyncDispose]: () => relay.stop(),
  };
}

Deno.test("mail by SMTP: a message is in the inbox when its end is answered, with its trace before it", async () => {
  await using rig = await startRig();
  const raw = mailText({ text: "Your code is 482913.\r\n.\r\n..\r\n" });
  assert.match(await rig.send(raw, ["Ada+Tag@agents.test"]), /^250 2\.0\.0 taken as [0-9a-f]{16}$/);
  const [message] = await rig.list();
  assert.deepEqual(message.envelope, { from: "sender@else.test", to: ["Ada+Tag@agents.test"] });
  assert.deepEqual(message.codes, [{ value: "482913", kind: "numeric" }]);
  const whole = accepted(await rig.holder.ask("GET", `/v1/mail/messages/${message.id}`), 200);
  assert.equal(whole.text, "Your code is 482913.\n.\n..\n");
  assert.deepEqual(whole.headers["return-path"], ["<sender@else.test>"]);
  const kept = await rig.holder.ask("GET", `/v1/mail/messages/${message.id}/raw`);
  assert.match(kept.body, /^Return-Path: <sender@else\.test>\r\nReceived: from c\.test\r\n/);
  assert.ok(kept.body.endsWith(`\r\n${raw}`));
  assert.equal(message.size, kept.body.length);
});

Deno.test("mail by SMTP: a repetition is known by the bytes that came, whatever way each came", async () => {
  await using rig = await startRig();
  const raw = mailText();
  assert.match(await rig.send(raw), /^250/);
  rig.relay.clock.advance(60_000);
  assert.match(await rig.send(raw), /^250/);
  const { address } = rig.ada;
  const timestamp = rig.relay.clock.seconds();
  accepted(await handIn(rig.relay.url, { to: [address], raw, timestamp }), 200);
  assert.equal((await rig.list()).length, 1);
});

Deno.test("mail by SMTP: unknown, suspended and foreign addresses are refused at RCPT, and nothing is stored", async () => {
  await using rig = await startRig({ config: { adminToken: "x".repeat(32) } });
  assert.equal(
    await rig.send(mailText(), ["nobody@agents.test"]),
    "550 5.1.1 no such inbox here",
  );
  assert.match(await rig.send(mailText(), ["ada@else.test"]), /^550 5\.7\.1 relaying denied/);
  assert.match(
    await rig.send(mailText(), [`bounce+${"a".repeat(53)}@agents.test`]),
    /^550 5\.1\.1/,
  );
  const suspend = await ask(
    `${rig.relay.url}/v1/admin/mail/orgs/${rig.holder.orgId}/suspend`,
    { method: "POST", headers: { Authorization: `Bearer ${"x".repeat(32)}` } },
  );
  assert.equal(suspend.status, 200);
  assert.match(await rig.send(mailText()), /^550 5\.7\.1 the inbox takes no mail now/);
});

Deno.test("mail by SMTP: an org suspended, or an inbox deleted, after RCPT takes no message at its end", async () => {
  const adminToken = "x".repeat(32);
  await using rig = await startRig({ config: { adminToken } });
  const { relay, holder, ada } = rig;
  const comes = async (meanwhile: () => Promise<{ status: number }>) => {
    using client = openSmtpClient(rig.port);
    await client.reply();
    await client.begin();
    client.send("Subject: x\r\n\r\n");
    assert.ok((await meanwhile()).status < 300);
    const reply = await client.ask(".");
    assert.match(await client.ask("NOOP"), /^250/);
    return reply;
  };
  const admin = (what: string) =>
    ask(`${relay.url}/v1/admin/mail/orgs/${holder.orgId}/${what}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${adminToken}` },
    });
  assert.match(await comes(() => admin("suspend")), /^550 5\.7\.1 the inbox takes no mail now/);
  await admin("unsuspend");
  const remove = () => holder.ask("DELETE", `/v1/mail/inboxes/${ada.id}`);
  assert.match(await comes(remove), /^550 5\.1\.1 no such inbox/);
});

Deno.test("mail by SMTP: while the store fails or says nothing the sender has to come again, and is stored once", async () => {
  for (const fault of ["fails", "is silent"]) {
    using memory = await Deno.openKv(":memory:");
    const store = silentStore(memory);
    const ticks = new Set<() => void>();
    await using rig = await startRig({
      deps: { kv: store.kv },
      relay: {
        startTicker(tick) {
          ticks.add(tick);
          return () => void ticks.delete(tick);
        },
      },
    });
    const settled = async <T>(work: Promise<T>): Promise<T> => {
      while (!await settlesWithin(work, 5)) for (const tick of [...ticks]) tick();
      return await work;
    };
    using client = openSmtpClient(rig.port);
    await client.reply();
    await client.begin();
    const raw = mailText();
    if (fault === "fails") store.failAfter(0, "disk I/O error");
    else store.fallSilentAfter(0);
    client.send(raw);
    assert.match(await settled(client.ask(".")), /^451 4\.3\.0 /, fault);
    store.speak();
    assert.match(await settled(rig.send(raw)), /^250 /);
    assert.match(await settled(rig.send(raw)), /^250 /);
    assert.equal((await rig.list()).length, 1, fault);
  }
});

Deno.test("mail by SMTP: lists refuse a message at its end, an hour's mails make it wait", async () => {
  await using blocked = await startRig({}, { block_receive: ["else.test"] });
  assert.match(
    await blocked.send(mailText()),
    /^550 5\.7\.1 the inbox does not take mail from you/,
  );
  await using full = await startRig({ limits: { mailInboundPerTrialInboxPerHour: 1 } });
  assert.match(await full.send(mailText()), /^250/);
  assert.match(await full.send(mailText()), /^451 4\.7\.1/);
  assert.equal((await full.list()).length, 1);
});

Deno.test("mail by SMTP: postmaster and abuse reach the operator, bounce addresses who has sent", async () => {
  await using rig = await startRig();
  for (const to of ["postmaster", "PostMaster@agents.test", "abuse@agents.test"]) {
    assert.match(await rig.send(mailText({ headers: { Subject: to } }), [to]), /^250/, to);
  }
  assert.equal((await rig.list()).length, 0);
  const forged = makeBounceAddress(
    { messageId: `msg_${"0".repeat(26)}`, recipient: 0 },
    "agents.test",
    new Uint8Array(32),
  );
  assert.match(await rig.send(mailText(), [forged]), /^550 5\.1\.1/);
});

Deno.test("mail by SMTP: nodemailer pools its connections", async () => {
  await using rig = await startRig();
  const transport = createTransport({ host: "127.0.0.1", port: rig.port, pool: true });
  const sent = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      transport.sendMail({
        from: "n@else.test",
        to: rig.ada.address,
        subject: `Mail ${index}`,
        text: ".\n..\nGrüße",
        attachments: [{ filename: "x.bin", content: randomBytes(9000) }],
      })),
  );
  transport.close();
  assert.ok(sent.every(({ response }) => response.startsWith("250 2.0.0 taken as ")));
  const rows = await rig.list();
  assert.equal(rows.length, 20);
  assert.equal(new Set(rows.map(({ subject }: { subject: string }) => subject)).size, 20);
});

const PYTHON = `
import smtplib, sys
from email.message import EmailMessage
port, large = int(sys.argv[1]), int(sys.argv[2])
mail = EmailMessage()
mail["From"], mail["To"], mail["Subject"] = "a@else.test", "ada@agents.test", "Hi"
mail.set_content("Hello\\n.\\n..dots\\n")
with smtplib.SMTP("127.0.0.1", port) as server:
    print(server.send_message(mail))
    try:
        server.sendmail("a@else.test", ["nobody@agents.test"], "x: y\\r\\n\\r\\nz")
    except smtplib.SMTPRecipientsRefused as refused:
        print(sorted(refused.recipients.items()))
    try:
        server.sendmail("a@else.test", ["ada@agents.test"], "x" * large)
    except smtplib.SMTPSenderRefused as refused:
        print(refused.smtp_code, refused.smtp_error)
`;

partOrSkip(
  "python3",
  "mail by SMTP: Python's smtplib sends, and is told what is refused",
  async (python) => {
    await using rig = await startRig({ limits: { mailInboundBytes: 10_000 } });
    const { code, stdout, stderr } = await new Deno.Command(python, {
      args: ["-c", PYTHON, String(rig.port), "10001"],
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    assert.equal(
      new TextDecoder().decode(stdout),
      "{}\n[('nobody@agents.test', (550, b'5.1.1 no such inbox here'))]\n" +
        "552 b'5.3.4 the message is over 10000 bytes'\n",
    );
    const [message, ...others] = await rig.list();
    assert.equal(others.length, 0);
    const whole = accepted(await rig.holder.ask("GET", `/v1/mail/messages/${message.id}`), 200);
    assert.equal(whole.text, "Hello\n.\n..dots\n");
  },
);

Deno.test("mail by SMTP: a start whose address another program has stops, and says so", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { mail } = parseConfig({ RELAY_MAIL_DEV: "true" });
  await assert.rejects(
    startMailRelay({
      config: { mail: { ...mail, listen: { host: "127.0.0.1", port: taken.addr.port } } },
    }),
    /^ConfigError: RELAY_MAIL_LISTEN must name an address that is free: another program listens/,
  );
});

Deno.test("mail by SMTP: a start that may not listen stops, and says who forbids it and what to do", async () => {
  const { mail } = parseConfig({ RELAY_MAIL_DEV: "true" });
  const { listen } = Deno;
  const cases: [error: Error, words: RegExp][] = [
    [new Deno.errors.PermissionDenied("EACCES"), /the system .* "Port 25 without root" in docs\//],
    [new Deno.errors.NotCapable("net"), /flags .* print the permissions again/],
  ];
  for (const [error, words] of cases) {
    try {
      Deno.listen = (() => {
        throw error;
      }) as typeof Deno.listen;
      await assert.rejects(
        startMailRelay({ config: { mail: { ...mail, listen: { host: "127.0.0.1", port: 25 } } } }),
        words,
      );
    } finally {
      Deno.listen = listen;
    }
  }
});

Deno.test("mail by SMTP: /health and start-up say how mail can come in", async () => {
  await using rig = await startRig();
  assert.deepEqual((await ask(`${rig.relay.url}/health`)).json, {
    ok: true,
    mail_in: ["smtp", "gateway", "local"],
  });
  const notes = rig.relay.relay.startupNotes();
  const at = `127.0.0.1:${rig.port}`;
  assert.ok(notes.includes(`  mail in    SMTP at ${at}, gateway, local`));
  assert.ok(
    notes.includes(
      `  smtp       on: ${at} without TLS, try: swaks --to inbox@agents.test --server ${at}`,
    ),
  );
});

Deno.test("mail by SMTP: a relay that stops tells idle clients, and answers what it has taken", async () => {
  await using rig = await startRig();
  using idle = openSmtpClient(rig.port);
  await idle.reply();
  using busy = openSmtpClient(rig.port);
  await busy.reply();
  await busy.begin();
  busy.send(`${mailText()}.\r\n`);
  assert.match(await busy.reply(), /^250/);
  rig.relay.relay.endWaits();
  for (const client of [idle, busy]) assert.match(await client.rest(), /^421 4\.3\.2 /);
  await rig.relay.relay.idle();
});
