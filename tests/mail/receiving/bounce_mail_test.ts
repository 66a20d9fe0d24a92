/** Mail that comes back to the addresses of bounces, over HTTP. */
import assert from "node:assert/strict";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { accepted, assertMailRefused, type MailKeyHolder } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import type { TestRelay } from "../../support/relay.ts";
import {
  deliver,
  listMessages,
  newSendingOrg,
  readMessage,
  send,
  takenFor,
} from "../../support/sending_org.ts";

const READER = "ann@example.org";

interface World {
  owner: MailKeyHolder;
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  inbox: any;
  // deno-lint-ignore no-explicit-any -- as above
  sent: any;
  /** Envelope sender of the mail to READER. */
  bounce: string;
  back(options: { raw: string; to?: string[]; from?: string }): ReturnType<typeof handIn>;
}

/** A message that was sent to READER. */
async function startWorld(relay: TestRelay): Promise<World> {
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({ local_part: "ada" });
  const sent = accepted(await send(owner, inbox, { to: READER, subject: "Hi" }), 202);
  await deliver(relay);
  const [taken] = await takenFor(relay, READER);
  const bounce = taken!.envelope.from;
  return {
    owner,
    inbox,
    sent,
    bounce,
    back: ({ raw, to = [bounce], from = "" }) =>
      handIn(relay.url, { from, to, raw, timestamp: Math.floor(relay.clock.now() / 1000) }),
  };
}

function dsn(action: string, status: string, diagnostic = "smtp; 550 5.1.1 no such user"): string {
  return mailText({
    headers: {
      From: "MAILER-DAEMON@mx.example.org",
      "MIME-Version": "1.0",
      "Content-Type": 'multipart/report; report-type=delivery-status; boundary="b"',
    },
    text: "--b\r\n\r\nwords\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n" +
      "Reporting-MTA: dns; mx.example\r\n\r\n" +
      `Final-Recipient: rfc822; ${READER}\r\nAction: ${action}\r\nStatus: ${status}\r\n` +
      `Diagnostic-Code: ${diagnostic}\r\n\r\n--b--\r\n`,
  });
}

Deno.test("a report to a bounce address is applied and not stored, and suppresses what does not exist", async () => {
  await using relay = await startMailRelay();
  const { owner, inbox, sent, bounce, back } = await startWorld(relay);
  assert.equal((await readMessage(owner, sent.id)).recipients[0].status, "sent");
  // Mail servers change the case of addresses in mail they return.
  const address = bounce.toUpperCase();
  const answer = accepted(await back({ raw: dsn("failed", "5.1.1"), to: [address] }), 200);
  assert.deepEqual(answer, { accepted: [address], rejected: [] });
  const message = await readMessage(owner, sent.id);
  assert.equal(message.status, "bounced");
  const { status, reason, smtp_code, enhanced_code, detail } = message.recipients[0];
  assert.deepEqual([status, reason, smtp_code, enhanced_code, detail], [
    "bounced",
    "refused",
    550,
    "5.1.1",
    "no such user",
  ]);
  assert.equal((await listMessages(owner, inbox)).length, 1);
  assertMailRefused(await send(owner, inbox, { to: READER }), "recipient_suppressed");
  // Again, and taken back: it stands.
  accepted(await back({ raw: dsn("failed", "5.1.1") }), 200);
  accepted(await back({ raw: dsn("delivered", "2.0.0") }), 200);
  assert.deepEqual(await readMessage(owner, sent.id), message);
});

Deno.test("an answer to a bounce address is stored in the thread of its message, whatever it says itself", async () => {
  await using relay = await startMailRelay();
  const { owner, inbox, sent, bounce, back } = await startWorld(relay);
  const other = accepted(await send(owner, inbox, { subject: "Other" }), 202);
  const raw = mailText({
    headers: {
      From: READER,
      Subject: "Out of office",
      "Auto-Submitted": "auto-replied",
      "In-Reply-To": `<${other.rfc_message_id}>`,
    },
  });
  const answer = accepted(await back({ raw }), 200);
  assert.deepEqual(answer, { accepted: [bounce], rejected: [] });
  const [newest] = await listMessages(owner, inbox);
  assert.equal(newest.direction, "inbound");
  assert.equal(newest.thread_id, sent.thread_id);
  assert.equal(newest.automated, "auto_reply");
  // The address of bounces is for mail servers: it is never shown.
  assert.deepEqual(newest.envelope, { from: "", to: [inbox.address] });
  accepted(await back({ raw }), 200);
  assert.equal((await listMessages(owner, inbox)).length, 3, "a repetition is stored once");
  // To the inbox as well, it is one message, with the inbox's own spelling.
  const tagged = inbox.address.replace("@", "+tag@");
  const both = mailText({ headers: { From: READER, Subject: "Both" } });
  accepted(await back({ raw: both, to: [tagged, bounce], from: READER }), 200);
  const rows = await listMessages(owner, inbox);
  assert.equal(rows.length, 4);
  assert.deepEqual(rows[0].envelope, { from: READER, to: [tagged] });
  assert.equal(rows[0].thread_id, sent.thread_id);
});

Deno.test("a report that cannot be applied is stored where an answer would be", async () => {
  await using relay = await startMailRelay();
  const { owner, inbox, sent, back } = await startWorld(relay);
  const groupless = dsn("failed", "5.1.1").replace(/Final-Recipient[^]*?\r\n\r\n/, "\r\n");
  assert.ok(!groupless.includes("Final-Recipient"));
  const unclear = mailText({
    headers: { From: "MAILER-DAEMON@mx.example.org", Subject: "Undelivered" },
    text: "This message was created automatically by mail delivery software.\r\n" +
      "A message that you sent has not yet been delivered to user@example.org.\r\n" +
      "550 may follow; no action is required on your part.\r\n",
  });
  const quoting = mailText({
    headers: { From: READER, Subject: "Away" },
    text: "Hi. This is the qmail-send program at mx.example.\r\n" +
      "This is a permanent error; I've given up. Sorry it didn't work out.\r\n\r\n" +
      "<a@b.example>:\r\nRemote host said: 550 5.1.1 no such user\r\n",
  });
  for (const [index, raw] of [groupless, unclear, quoting].entries()) {
    accepted(await back({ raw }), 200);
    accepted(await back({ raw }), 200);
    const rows = await listMessages(owner, inbox);
    assert.equal(rows.length, index + 2, "stored, and once");
    assert.deepEqual([rows[0].thread_id, rows[0].direction], [sent.thread_id, "inbound"]);
  }
  assert.equal((await readMessage(owner, sent.id)).status, "sent");
  // Through the inbox's lists, as all else.
  const blocked = { body: { block_receive: ["mx.example.org"] } };
  accepted(await owner.ask("PATCH", `/v1/mail/inboxes/${inbox.id}`, blocked), 200);
  assertMailRefused(await back({ raw: `X-Other: 1\r\n${groupless}` }), "not_found");
});

Deno.test("a mail server's notice in words is applied, to the recipient that the bounce address names", async () => {
  await using relay = await startMailRelay();
  const { owner, inbox, sent, back } = await startWorld(relay);
  const raw = mailText({
    headers: { From: "MAILER-DAEMON@mx.example.org", Subject: "failure notice" },
    text: "Hi. This is the qmail-send program at mx.example.org.\r\n" +
      "I'm afraid I wasn't able to deliver your message to the following addresses.\r\n\r\n" +
      "<somebody.else@example.net>:\r\n" +
      "Sorry, no mailbox here by that name. (#5.1.1)\r\n\r\n" +
      "--- Below this line is a copy of the message.\r\n\r\nSubject: Hi\r\n",
  });
  accepted(await back({ raw }), 200);
  const { status, recipients } = await readMessage(owner, sent.id);
  assert.equal(status, "bounced");
  assert.deepEqual([recipients[0].address, recipients[0].enhanced_code, recipients[0].detail], [
    READER,
    "5.1.1",
    "Sorry, no mailbox here by that name. (#5.1.1)",
  ]);
  assert.equal((await listMessages(owner, inbox)).length, 1);
  assertMailRefused(await send(owner, inbox, { to: READER }), "recipient_suppressed");
});

Deno.test("an answer to a bounce address goes through the inbox's lists", async () => {
  await using relay = await startMailRelay();
  const { owner, inbox, bounce, back } = await startWorld(relay);
  const path = `/v1/mail/inboxes/${inbox.id}`;
  accepted(await owner.ask("PATCH", path, { body: { block_receive: [READER] } }), 200);
  const raw = mailText({ headers: { From: READER } });
  const refused = await back({ raw });
  assert.equal(refused.status, 404);
  assert.equal((await listMessages(owner, inbox)).length, 1);
  // A report is about the mail, not from who is blocked.
  accepted(await back({ raw: dsn("delivered", "2.0.0"), to: [bounce] }), 200);
  assert.equal((await listMessages(owner, inbox))[0].status, "delivered");
});

Deno.test("a bounce address that was not made here, is older than 30 days or has lost its message is nobody's", async () => {
  await using relay = await startMailRelay();
  const { owner, inbox, sent, bounce, back } = await startWorld(relay);
  const raw = dsn("failed", "5.1.1");
  const at = bounce.indexOf("@");
  const forged = [
    bounce.slice(0, at - 1) + (bounce[at - 1] === "a" ? "b" : "a") + bounce.slice(at),
    bounce.replace(".00", ".01"),
    bounce.replace("@", "x@"),
    bounce.replace(/@.*/, "@elsewhere.test"),
    `bounce@${bounce.slice(at + 1)}`,
    `bounce+@${bounce.slice(at + 1)}`,
  ];
  for (const address of forged) {
    assertMailRefused(await back({ raw, to: [address] }), "not_found");
  }
  assert.equal((await readMessage(owner, sent.id)).status, "sent");
  const mixed = accepted(await back({ raw: mailText(), to: [forged[0]!, inbox.address] }), 200);
  assert.deepEqual(mixed.rejected, [{ address: forged[0], code: "not_found" }]);
  relay.clock.advance(30 * 86_400_000);
  assertMailRefused(await back({ raw }), "not_found");
  relay.clock.advance(-30 * 86_400_000);
  accepted(await owner.ask("DELETE", `/v1/mail/messages/${sent.id}`), 204);
  assertMailRefused(await back({ raw }), "not_found");
  assertMailRefused(await back({ raw: mailText() }), "not_found");
});

Deno.test("one report to many spellings of a bounce address is applied once", async () => {
  await using relay = await startMailRelay();
  const { owner, sent, bounce, back } = await startWorld(relay);
  const spellings = Array.from({ length: 100 }, (_, i) => {
    const letters = [...bounce];
    for (let bit = 0; bit < 6; bit++) {
      if (i + 1 >> bit & 1) letters[bit] = letters[bit]!.toUpperCase();
    }
    if (i >= 63) letters[8] = letters[8]!.toUpperCase();
    return letters.join("");
  });
  const to = [...new Set(spellings)];
  assert.ok(to.length > 60);
  const filler = "x".repeat(70) + "\r\n";
  const raw = dsn("failed", "5.1.1").replace("words", filler.repeat(3_000));
  const answer = accepted(await back({ raw, to }), 200);
  assert.deepEqual(answer.accepted, to);
  assert.equal((await readMessage(owner, sent.id)).status, "bounced");
});

Deno.test("mail of agents to postmaster and abuse goes to the operator as a file, once a day and 20 an hour", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({ local_part: "ada" });
  const domain = inbox.address.split("@")[1];
  const to = [`postmaster@${domain}`, `Abuse@${domain}`];
  const sent = accepted(await send(owner, inbox, { to, subject: "Help" }), 202);
  await deliver(relay);
  await deliver(relay);
  const { recipients } = await readMessage(owner, sent.id);
  assert.deepEqual(recipients.map((one: { status: string }) => one.status), ["sent", "sent"]);
  const operator = "relay@relay.test";
  const taken = await takenFor(relay, operator);
  assert.equal(taken.length, 2);
  assert.ok(taken.some(({ subject }) => subject === `Mail to abuse@${domain}`));
  const raw = await (await fetch(`${relay.url}/dev/mail/${taken[0]!.n}/raw`)).text();
  assert.match(raw, /^Content-Type: application\/octet-stream/m);
  assert.match(raw, /^Content-Transfer-Encoding: base64\r$/m);
  assert.ok(!/^Subject: Help/m.test(raw), "the stranger's headers are not the mail's");
  const file = /filename=message\.eml[^]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(raw)![1]!;
  assert.equal(
    atob(file.replaceAll(/\s/g, "")),
    accepted(await owner.ask("GET", `/v1/mail/messages/${sent.id}/raw`), 200),
  );
  for (let i = 0; i < 19; i++) {
    accepted(await send(owner, inbox, { to: to[0], text: `number ${i}` }), 202);
  }
  await deliver(relay);
  await deliver(relay);
  assert.equal((await takenFor(relay, operator)).length, 20);
  const rows = await listMessages(owner, inbox);
  const late = rows.filter(({ status }) => status === "deferred");
  assert.equal(late.length, 1);
  const [{ smtp_code, enhanced_code }] = late[0].recipients;
  assert.deepEqual([smtp_code, enhanced_code], [452, "4.2.2"]);
  relay.clock.advance(3_600_000);
  await deliver(relay);
  await deliver(relay);
  assert.equal((await takenFor(relay, operator)).length, 21);
  assert.equal((await readMessage(owner, late[0].id)).status, "sent");
  // A gateway has them go where its operator reads mail.
  const timestamp = Math.floor(relay.clock.now() / 1000);
  const outside = await handIn(relay.url, { to: [to[0]!], raw: mailText(), timestamp });
  assertMailRefused(outside, "not_found");
});
