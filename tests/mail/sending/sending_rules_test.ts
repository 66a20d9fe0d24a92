// Over 300 lines: every rule of sending as a request, in the order of the page.
/** The rules of sending, tried from outside. */
import assert from "node:assert/strict";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import {
  accepted,
  assertMailRefused,
  type MailKeyHolder,
  newOrg,
} from "../../support/mail_caller.ts";
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

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const later = (relay: TestRelay, ms: number) => new Date(relay.clock.now() + ms).toISOString();
const seconds = (headers: Headers) => Number(headers.get("retry-after"));

// deno-lint-ignore no-explicit-any -- tests assert the fields one by one
async function arrive(relay: TestRelay, by: MailKeyHolder, inbox: any, raw: string): Promise<any> {
  const timestamp = Math.floor(relay.clock.now() / 1000);
  accepted(await handIn(relay.url, { to: [inbox.address], raw, timestamp }), 200);
  return (await listMessages(by, inbox))[0];
}

const reply = (by: MailKeyHolder, id: string, body: object = {}) =>
  by.ask("POST", `/v1/mail/messages/${id}/reply`, { body: { text: "Fine.", ...body } });
const forward = (by: MailKeyHolder, id: string, body: object) =>
  by.ask("POST", `/v1/mail/messages/${id}/forward`, { body });
const rawOf = async (by: MailKeyHolder, id: string): Promise<string> =>
  accepted(await by.ask("GET", `/v1/mail/messages/${id}/raw`), 200);

Deno.test("what is wrong with a request is told in the order of the checks", async () => {
  await using relay = await startMailRelay({ limits: { mailSendsPerInboxPerHour: 3 } });
  const trial = await newOrg(relay);
  const trialInbox = await trial.inbox({});
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({ allow_send: ["example.org", "bounce.test"] });
  const post = (by: MailKeyHolder, id: string, body: unknown, key?: string) =>
    by.ask("POST", `/v1/mail/inboxes/${id}/messages/send`, {
      body,
      ...(key === undefined ? {} : { headers: { "Idempotency-Key": key } }),
    });
  const good = { to: "ann@example.org", text: "x" };
  const large = "x".repeat(10 * 1024 * 1024 + 1);
  assertMailRefused(await post(trial, inbox.id, "{"), "not_found");
  assertMailRefused(await post(trial, trialInbox.id, "{"), "trial_org_cannot_send");
  assertMailRefused(await post(owner, trialInbox.id, large), "not_found");
  assertMailRefused(await post(owner, inbox.id, large, "one"), "payload_too_large");
  assertMailRefused(await post(owner, inbox.id, "{", "one"), "invalid_json");
  assertMailRefused(await post(owner, inbox.id, { ...good, to: "Ann <a@b.org>" }), "invalid_email");
  accepted(await post(owner, inbox.id, good, "one"), 202);
  assertMailRefused(await post(owner, inbox.id, "{", "one"), "invalid_json");
  assertMailRefused(
    await post(owner, inbox.id, { ...good, to: "eve@elsewhere.test" }, "one"),
    "idempotency_key_reused",
  );
  accepted(await post(owner, inbox.id, { to: ["a@bounce.test", "b@bounce.test"], text: "x" }), 202);
  await deliver(relay);
  accepted(await post(owner, inbox.id, good), 202);
  const all = ["eve@elsewhere.test", "a@bounce.test", "ann@example.org", "b@bounce.test"];
  assertMailRefused(
    await post(owner, inbox.id, { to: all, text: "x" }, "two"),
    "recipient_not_allowed",
    /eve@elsewhere\.test/,
  );
  assertMailRefused(
    await post(owner, inbox.id, { to: all.slice(1), text: "x" }, "two"),
    "recipient_suppressed",
    /a@bounce\.test, b@bounce\.test/,
  );
  const full = await post(owner, inbox.id, good, "two");
  assertMailRefused(full, "rate_limited", /3 messages an hour/);
  assert.ok(seconds(full.headers) > 3_500 && seconds(full.headers) <= 3_600);
  // A replay stands before limits, and what was refused has released its key.
  const replay = await post(owner, inbox.id, good, "one");
  assert.equal(replay.headers.get("idempotent-replayed"), "true");
  relay.clock.advance(HOUR_MS);
  accepted(await post(owner, inbox.id, good, "two"), 202);
});

Deno.test("recipients are counted once each, and refused whole where they do not fit", async () => {
  await using relay = await startMailRelay({ limits: { mailRecipientsPerOrgPerDay: 70 } });
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({});
  const people = (count: number, name = "p") =>
    Array.from({ length: count }, (_, i) => `${name}${i}@example.org`);
  const twice = { to: ["Ann@Example.org"], cc: ["ann@example.org"], bcc: "ANN@example.org" };
  const one = accepted(await send(owner, inbox, twice), 202);
  assert.deepEqual(
    one.recipients.map(({ address }: { address: string }) => address),
    ["ann@example.org"],
  );
  assert.equal(one.to[0].address, "Ann@Example.org");
  assert.deepEqual([one.cc, one.bcc], [[], []]);
  assertMailRefused(await send(owner, inbox, { to: people(51) }), "invalid_json");
  const tooMany = await send(owner, inbox, { to: people(50) });
  assertMailRefused(tooMany, "rate_limited", /50 recipients in the 24 hours/);
  const claimedAgoS = 0; // the clock stands still
  assert.ok(Math.abs(seconds(tooMany.headers) - 86_400 + claimedAgoS) <= 1);
  accepted(await send(owner, inbox, { to: people(49) }), 202);
  assertMailRefused(await send(owner, inbox, {}), "rate_limited");
  // Noon: 12 hours later another UTC day has begun, within the first 24 hours.
  relay.clock.advance(13 * HOUR_MS);
  assertMailRefused(await send(owner, inbox, {}), "rate_limited", /24 hours/);
  relay.clock.advance(11 * HOUR_MS);
  accepted(await send(owner, inbox, { to: people(50) }), 202);
  const full = await send(owner, inbox, { to: people(21) });
  assertMailRefused(full, "rate_limited", /70 recipients in a UTC day; 50 are taken/);
  assert.ok(Math.abs(seconds(full.headers) - 12 * 3_600) <= 1, `${seconds(full.headers)}`);
  accepted(await send(owner, inbox, { to: people(20) }), 202);
  relay.clock.advance(12 * HOUR_MS);
  accepted(await send(owner, inbox, { to: people(50) }), 202);
});

Deno.test("orgs that were verified within a week share a day's recipients", async () => {
  await using relay = await startMailRelay({ limits: { mailRecipientsNewOrgsPerDay: 3 } });
  const one = await newSendingOrg(relay, "one@example.org");
  const two = await newSendingOrg(relay, "two@example.org");
  const [inbox, other] = [await one.inbox({}), await two.inbox({})];
  accepted(await send(one, inbox, { to: ["a@example.org", "b@example.org"] }), 202);
  const full = await send(two, other, { to: ["a@example.org", "b@example.org"] });
  assertMailRefused(full, "rate_limited", /tomorrow/);
  assert.ok(Math.abs(seconds(full.headers) - 12 * 3_600) <= 1);
  accepted(await send(two, other, {}), 202);
  assertMailRefused(await send(one, inbox, {}), "rate_limited");
  relay.clock.advance(7 * DAY_MS);
  for (let i = 0; i < 5; i++) accepted(await send(one, inbox, {}), 202);
});

Deno.test("a scheduled message waits for its time, may be cancelled until then, and is checked again", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({});
  for (const ms of [-1_000, 0, 29_000, 30 * DAY_MS + 1_000]) {
    assertMailRefused(await send(owner, inbox, { send_at: later(relay, ms) }), "invalid_json");
  }
  const schedule = async (to: string) =>
    accepted(await send(owner, inbox, { to, send_at: later(relay, HOUR_MS) }), 202);
  const kept = await schedule("kept@example.org");
  const cancelled = await schedule("cancelled@example.org");
  const suppressed = await schedule("no@bounce.test");
  const refused = await schedule("eve@elsewhere.test");
  assert.deepEqual([kept.status, kept.recipients[0].status], ["scheduled", "queued"]);
  assert.equal(kept.recipients[0].next_attempt_at, kept.send_at);
  assert.match(await rawOf(owner, kept.id), /^Date: Mon, 01 Jun 2026 13:00:0\d \+0000\r$/m);
  await deliver(relay);
  assert.deepEqual(await takenFor(relay, "kept@example.org"), []);
  const cancel = (id: string) => owner.ask("POST", `/v1/mail/messages/${id}/cancel`);
  const { status, recipients } = accepted(await cancel(cancelled.id), 200);
  assert.deepEqual([status, recipients[0].next_attempt_at], ["cancelled", null]);
  assertMailRefused(await cancel(cancelled.id), "already_sent");
  accepted(await send(owner, inbox, { to: "no@bounce.test" }), 202);
  await deliver(relay);
  const patch = { body: { allow_send: ["example.org", "bounce.test"] } };
  accepted(await owner.ask("PATCH", `/v1/mail/inboxes/${inbox.id}`, patch), 200);
  relay.clock.advance(HOUR_MS);
  assertMailRefused(await cancel(kept.id), "already_sent");
  await deliver(relay);
  assert.equal((await takenFor(relay, "kept@example.org")).length, 1);
  assert.deepEqual(await takenFor(relay, "cancelled@example.org"), []);
  assert.deepEqual(await takenFor(relay, "eve@elsewhere.test"), []);
  assert.equal((await readMessage(owner, kept.id)).status, "sent");
  assert.equal((await readMessage(owner, cancelled.id)).status, "cancelled");
  for (const { id } of [suppressed, refused]) {
    const [recipient] = (await readMessage(owner, id)).recipients;
    assert.deepEqual([recipient.status, recipient.reason], ["failed", "suppressed"]);
  }
  const answered = accepted(await send(owner, inbox, {}), 202);
  await deliver(relay);
  assertMailRefused(await cancel(answered.id), "already_sent");
});

Deno.test("one key is one message: in parallel, for large answers byte for byte, and no more than its scope", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const [inbox, other] = [await owner.inbox({}), await owner.inbox({})];
  const headers = { "Idempotency-Key": "k1" };
  const body = { text: "Grüße ".repeat(20_000), subject: "Large" };
  const path = `${relay.url}/v1/mail/inboxes/${inbox.id}/messages/send`;
  const ask = async (json: string) => {
    const answer = await fetch(path, {
      method: "POST",
      headers: { ...headers, Authorization: `Bearer ${owner.key}` },
      body: json,
    });
    return { answer, bytes: new Uint8Array(await answer.arrayBuffer()) };
  };
  const json = JSON.stringify({ to: "ann@example.org", ...body });
  const answers = await Promise.all(Array.from({ length: 12 }, () => ask(json)));
  const taken = answers.filter(({ answer }) => answer.status === 202);
  assert.ok(taken.length >= 1);
  const first = taken.filter(({ answer }) => !answer.headers.has("idempotent-replayed"));
  assert.equal(first.length, 1);
  for (const { answer } of answers) {
    assert.ok(answer.status === 202 || answer.status === 409, String(answer.status));
  }
  assert.ok(first[0]!.bytes.length > 32 * 1024);
  assert.equal((await listMessages(owner, inbox)).length, 1);
  // Members in another order are the same request.
  const again = await ask(JSON.stringify({ ...body, to: "ann@example.org" }));
  assert.equal(again.answer.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(again.bytes, first[0]!.bytes);
  // From another inbox, or with another key of the org, it is another request.
  accepted(await send(owner, other, body, headers), 202);
  const second = owner.with((await owner.newKey({ name: "second" })).api_key);
  accepted(await send(second, inbox, body, headers), 202);
  assertMailRefused(await send(owner, inbox, {}, { "Idempotency-Key": "" }), "invalid_json");
  const long = { "Idempotency-Key": "k".repeat(256) };
  assertMailRefused(await send(owner, inbox, {}, long), "invalid_json");
  relay.clock.advance(DAY_MS);
  const fresh = await ask(json);
  assert.equal(fresh.answer.status, 202);
  assert.equal(fresh.answer.headers.get("idempotent-replayed"), null);
});

Deno.test("a reply goes to Reply-To, with reply_all to all but the inbox, in its thread", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({ local_part: "ada" });
  const tagged = inbox.address.replace("@", "+x@").toUpperCase();
  const row = await arrive(
    relay,
    owner,
    inbox,
    mailText({
      headers: {
        From: "Ann <ann@example.org>",
        "Reply-To": "Desk <desk@example.org>",
        To: `${tagged}, Bob <bob@example.org>`,
        Cc: `cid@example.org, ${inbox.address}`,
        Subject: "re: hello",
        "Message-ID": "<m3@example.org>",
        References: "<m1@example.org> <m2@example.org>",
      },
    }),
  );
  const one = accepted(await reply(owner, row.id), 202);
  const addresses = (list: { address: string }[]) => list.map(({ address }) => address);
  assert.deepEqual([addresses(one.to), one.cc], [["desk@example.org"], []]);
  const everyone = accepted(await reply(owner, row.id, { reply_all: true }), 202);
  assert.deepEqual(addresses(everyone.to), ["desk@example.org", "bob@example.org"]);
  assert.deepEqual(addresses(everyone.cc), ["cid@example.org"]);
  assert.equal(everyone.subject, "re: hello");
  assert.equal(everyone.in_reply_to, "m3@example.org");
  assert.deepEqual(everyone.references, ["m1@example.org", "m2@example.org", "m3@example.org"]);
  assert.deepEqual([one.thread_id, everyone.thread_id], [row.thread_id, row.thread_id]);
  assert.ok(!/^Auto-Submitted/im.test(await rawOf(owner, one.id)));
  // One's own message is answered to whom it went.
  const own = accepted(await reply(owner, one.id), 202);
  assert.deepEqual(addresses(own.to), ["desk@example.org"]);
  const many = Array.from({ length: 6 }, (_, i) => `r${i}@example.org`).join(", ");
  const crowd = await arrive(relay, owner, inbox, mailText({ headers: { "Reply-To": many } }));
  assertMailRefused(await reply(owner, crowd.id), "invalid_email");
  const alone = await arrive(
    relay,
    owner,
    inbox,
    mailText({ headers: { From: inbox.address, To: inbox.address } }),
  );
  assertMailRefused(await reply(owner, alone.id, { reply_all: true }), "invalid_email");
});

Deno.test("a forward carries text, origin and attachments, and hides nobody's Bcc", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({});
  const bytes = crypto.getRandomValues(new Uint8Array(5_000));
  const row = await arrive(
    relay,
    owner,
    inbox,
    mailText({
      headers: {
        From: "Ann <ann@example.org>",
        Subject: "Report",
        "MIME-Version": "1.0",
        "Content-Type": 'multipart/mixed; boundary="b"',
      },
      text: "--b\r\n\r\nSee the file.\r\n--b\r\nContent-Type: application/pdf\r\n" +
        'Content-Disposition: attachment; filename="a.pdf"\r\n' +
        `Content-Transfer-Encoding: base64\r\n\r\n${bytes.toBase64()}\r\n--b--\r\n`,
    }),
  );
  const sent = accepted(
    await forward(owner, row.id, {
      to: "bob@example.org",
      bcc: "hidden@example.org",
      text: "For you.",
    }),
    202,
  );
  assert.equal(sent.subject, "Fwd: Report");
  assert.equal(sent.thread_id, row.thread_id);
  assert.match(sent.text, /^For you\.\n[^]*From: Ann <ann@example\.org>[^]*See the file\./);
  assert.equal(sent.attachments.length, 1);
  assert.equal(sent.attachments[0].sha256, row.attachments[0].sha256);
  await deliver(relay);
  assert.equal((await takenFor(relay, "hidden@example.org")).length, 1);
  for (const address of ["bob@example.org", "hidden@example.org"]) {
    const [taken] = await takenFor(relay, address);
    const raw = await (await fetch(`${relay.url}/dev/mail/${taken!.n}/raw`)).text();
    assert.equal(raw, await rawOf(owner, sent.id));
    assert.ok(!raw.includes("hidden@"), "Bcc stands nowhere in the mail");
  }
});

Deno.test("a loop of two programs is cut, sooner where the other one is automated", async () => {
  await using relay = await startMailRelay({ limits: { mailRecipientsPerOrgFirstDay: 1_000 } });
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({});
  const person = await arrive(relay, owner, inbox, mailText());
  for (let i = 0; i < 20; i++) accepted(await reply(owner, person.id), 202);
  const cut = await reply(owner, person.id);
  assertMailRefused(cut, "rate_limited", /20 messages an hour in one thread/);
  assert.ok(seconds(cut.headers) > 3_500 && seconds(cut.headers) <= 3_600);
  assertMailRefused(await forward(owner, person.id, { to: "x@example.org" }), "rate_limited");
  const headers = { "Auto-Submitted": "auto-generated" };
  const machine = await arrive(relay, owner, inbox, mailText({ headers }));
  for (let i = 0; i < 10; i++) {
    const { id } = accepted(await reply(owner, machine.id), 202);
    if (i === 0) assert.match(await rawOf(owner, id), /^Auto-Submitted: auto-replied\r$/m);
  }
  assertMailRefused(await reply(owner, machine.id), "rate_limited", /10 messages an hour/);
  accepted(await send(owner, inbox, {}), 202);
  relay.clock.advance(HOUR_MS);
  accepted(await reply(owner, person.id), 202);
});

Deno.test("mail to an inbox of the relay is delivered inside, and its answer back threads at both ends", async () => {
  await using relay = await startMailRelay();
  const ann = await newSendingOrg(relay, "one@example.org");
  const bob = await newSendingOrg(relay, "two@example.org");
  const [hers, his] = [await ann.inbox({}), await bob.inbox({})];
  const sent = accepted(await send(ann, hers, { to: his.address, subject: "Hello" }), 202);
  await deliver(relay);
  const [arrived] = await listMessages(bob, his);
  assert.deepEqual([arrived.rfc_message_id, arrived.auth.verdict], [sent.rfc_message_id, "pass"]);
  const answer = accepted(await reply(bob, arrived.id), 202);
  await deliver(relay);
  const [back] = await listMessages(ann, hers);
  assert.deepEqual([back.thread_id, back.rfc_message_id], [sent.thread_id, answer.rfc_message_id]);
  assert.equal(answer.thread_id, arrived.thread_id);
  assert.deepEqual((await readMessage(bob, answer.id)).recipients[0].enhanced_code, "2.1.5");
  const block = { body: { block_receive: [hers.address] } };
  accepted(await bob.ask("PATCH", `/v1/mail/inboxes/${his.id}`, block), 200);
  const blocked = accepted(await send(ann, hers, { to: his.address }), 202);
  await deliver(relay);
  const [{ status, enhanced_code }] = (await readMessage(ann, blocked.id)).recipients;
  assert.deepEqual([status, enhanced_code], ["bounced", "5.7.1"]);
  assert.deepEqual(accepted(await ann.ask("GET", "/v1/mail/suppressions"), 200).data, []);
});
