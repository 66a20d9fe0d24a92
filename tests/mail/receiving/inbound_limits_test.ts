/** POST /v1/mail/inbound/raw: rates, quotas and room; nothing is lost, the sender keeps it. */
import assert from "node:assert/strict";
import { handIn, type InboundOptions, mailText } from "../../support/inbound_mail.ts";
import { startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { type MailAnswer, startMailRelay } from "../../support/mail_relay.ts";
import { verifyOrg } from "../../support/mail_store.ts";
import { mailboxKey, type MailboxRecord } from "../../../server/mail/records/mailbox_record.ts";
import { admitReceived } from "../../../server/mail/receiving/receiving_rate.ts";
import { HOUR_MS, MINUTE_MS } from "../../../server/base/time/time_units.ts";

function assertTryAgain(answer: MailAnswer): number {
  assertMailRefused(answer, "unavailable");
  const seconds = Number(answer.headers.get("retry-after"));
  assert.ok(seconds >= 1 && seconds <= 3_600, `Retry-After ${seconds}`);
  return seconds;
}

Deno.test("inbound/raw: messages an hour of an inbox; a 503 is not remembered and tells when", async () => {
  await using rig = await startInboundRig({ limits: { mailInboundPerInboxPerHour: 2 } });
  const other = await rig.holder.inbox({ local_part: "grace" });
  accepted(await rig.deliver(), 200);
  rig.relay.clock.advance(MINUTE_MS);
  accepted(await rig.deliver(), 200);
  const raw = mailText();
  const request = { id: "again", raw, to: [rig.inbox.address, other.address] };
  assert.equal(assertTryAgain(await rig.deliver(request)), 59 * 60);
  // The other one has stored it; handing it in again is a repetition.
  const theirs = `/v1/mail/inboxes/${other.id}/messages`;
  assert.equal((await rig.get(theirs)).data.length, 1);
  assertTryAgain(await rig.deliver(request));
  rig.relay.clock.advance(59 * MINUTE_MS);
  const { body } = await rig.deliver(request);
  assert.deepEqual(body.accepted, request.to);
  assert.equal((await rig.get(theirs)).data.length, 1);
  assert.equal((await rig.list()).data.length, 3);
});

Deno.test("inbound/raw: a trial's inbox has a rate of its own", async () => {
  await using rig = await startInboundRig({
    trial: true,
    limits: { mailInboundPerTrialInboxPerHour: 1, mailInboundPerInboxPerHour: 5 },
  });
  accepted(await rig.deliver(), 200);
  assertTryAgain(await rig.deliver());
  await verifyOrg(rig.kv, rig.holder.orgId, rig.relay.clock.now());
  accepted(await rig.deliver(), 200);
});

Deno.test("inbound/raw: bytes an hour of an inbox", async () => {
  const raw = mailText({ text: "x".repeat(1_000) });
  const size = raw.length;
  await using rig = await startInboundRig({
    limits: { mailInboundBytesPerInboxPerHour: 2 * size },
  });
  const another = () => mailText({ text: "x".repeat(1_000) });
  accepted(await rig.deliver({ raw }), 200);
  rig.relay.clock.advance(10 * MINUTE_MS);
  accepted(await rig.deliver({ raw: another() }), 200);
  const seconds = assertTryAgain(await rig.deliver({ raw: another() }));
  assert.equal(seconds, 50 * 60);
  rig.relay.clock.advance(seconds * 1_000);
  accepted(await rig.deliver({ raw: another() }), 200);
});

Deno.test("inbound/raw: the storage of a trial, of a first day and of an org, and room after a deletion", async () => {
  const one = mailText({ text: "x".repeat(40_000) });
  await using rig = await startInboundRig({
    trial: true,
    limits: {
      mailStorageBytesPerTrial: 500_000,
      mailStorageBytesFirstDay: 1_000_000,
      mailStorageBytesPerOrg: 1_500_000,
    },
  });
  const { clock } = rig.relay;
  const fill = async (): Promise<number> => {
    for (let i = 0;; i++) {
      const answer = await rig.deliver({ raw: mailText({ text: "x".repeat(40_000) }) });
      if (answer.status === 200) continue;
      assertTryAgain(answer);
      return await rig.storedBytes();
    }
  };
  const trial = await fill();
  assert.ok(trial <= 500_000 && trial > 0, `${trial} bytes`);
  await verifyOrg(rig.kv, rig.holder.orgId, clock.now());
  const firstDay = await fill();
  assert.ok(firstDay <= 1_000_000 && firstDay > 500_000, `${firstDay} bytes`);
  clock.advance(24 * HOUR_MS);
  const later = await fill();
  assert.ok(later <= 1_500_000 && later > 1_000_000, `${later} bytes`);
  const { data: [row] } = await rig.list("?limit=1");
  accepted(await rig.holder.ask("DELETE", `/v1/mail/messages/${row.id}`), 204);
  assertTryAgain(await rig.deliver({ raw: one }));
  clock.advance(HOUR_MS);
  await rig.relay.relay.crons["figures"]!();
  assert.ok(await rig.storedBytes() < later);
  accepted(await rig.deliver({ raw: one }), 200);
});

Deno.test("inbound/raw: below mailMinFreeDiskBytes mail is 503, and what has it is accepted again", async () => {
  await using rig = await startInboundRig();
  const raw = mailText();
  accepted(await rig.deliver({ raw }), 200);
  const { deps: { kv, config: { dataDir } }, clock } = rig.relay;
  // Another process of the same deployment, whose disk is nearly full.
  await using full = await startMailRelay({
    config: { dataDir, sharedStore: true },
    deps: { kv, now: clock.now },
    limits: { mailMinFreeDiskBytes: 2 ** 40 },
    relay: { measureFreeBytes: () => Promise.resolve(2 ** 40 - 1) },
  });
  const deliver = (options: Partial<InboundOptions>) =>
    handIn(full.url, {
      to: [rig.inbox.address],
      raw: mailText(),
      timestamp: clock.seconds(),
      ...options,
    });
  assertTryAgain(await deliver({}));
  accepted(await deliver({ raw }), 200);
  assertMailRefused(await deliver({ to: ["nobody@agents.test"] }), "not_found");
  assert.equal((await rig.list()).data.length, 1);
});

Deno.test("inbound/raw: messages an hour of a client, in whatever spelling; none without client_ip", async () => {
  await using rig = await startInboundRig({ limits: { mailInboundPerClientPerHour: 2 } });
  const from = (client_ip: string | null) => rig.deliver({ envelope: { client_ip } });
  accepted(await from("192.0.2.1"), 200);
  accepted(await from("::ffff:192.0.2.1"), 200);
  const seconds = assertTryAgain(await from("192.0.2.1"));
  assert.ok(seconds > 3_500, String(seconds));
  accepted(await from("192.0.2.2"), 200);
  accepted(await from(null), 200);
  // The holder of a /64 has one place, not 2^64.
  accepted(await from("2001:db8::1"), 200);
  accepted(await from("2001:DB8:0::2"), 200);
  assertTryAgain(await from("2001:db8:0:0:ffff::3"));
  accepted(await from("2001:db8:0:1::3"), 200);
});

Deno.test("inbound/raw: a client over its rate reaches nobody, whoever comes first in the envelope", async () => {
  await using rig = await startInboundRig({ limits: { mailInboundPerClientPerHour: 1 } });
  const closed = await rig.holder.inbox({ local_part: "closed", block_receive: ["else.test"] });
  const other = await rig.holder.inbox({ local_part: "grace" });
  const envelope = { client_ip: "192.0.2.1" };
  // An inbox that blocks the sender takes nothing from its count; the next one does.
  const to = [closed.address, rig.inbox.address, other.address];
  const { body } = await rig.deliver({ to, envelope });
  assert.deepEqual(body.accepted, [rig.inbox.address, other.address]);
  assertTryAgain(await rig.deliver({ to, envelope }));
  assertTryAgain(await rig.deliver({ to: [rig.inbox.address, other.address], envelope }));
  assert.equal((await rig.list()).data.length, 1);
  assert.equal((await rig.get(`/v1/mail/inboxes/${other.id}/messages`)).data.length, 1);
});

Deno.test("inbound/raw: what is counted of an inbox stays small, whatever the limits", async () => {
  await using rig = await startInboundRig({
    limits: { mailInboundPerInboxPerHour: 1_000_000, mailInboundBytesPerInboxPerHour: 10 ** 15 },
  });
  const key = mailboxKey(rig.holder.orgId, rig.inbox.id);
  accepted(await rig.deliver(), 200);
  const { value } = await rig.kv.get<MailboxRecord>(key);
  // As an hour with a message in every second leaves it.
  const limits = rig.relay.deps.config.limits;
  let rates = { received: value!.received, receivedBytes: value!.receivedBytes };
  const startMs = rig.relay.clock.now();
  for (let second = 0; second < 7_200; second++) {
    const nowMs = startMs + second * 1_000;
    const admitted = admitReceived(rates, { bytes: 25 * 2 ** 20, isTrial: false, nowMs, limits });
    assert.ok(!("retryAfterMs" in admitted));
    rates = admitted;
  }
  assert.ok(rates.received.length > 0 && rates.received.length <= 1_202);
  assert.ok(rates.receivedBytes.length <= 1_202);
});

Deno.test("inbound/raw: limits hold on an exclusive store too", async () => {
  await using relay = await startMailRelay({ limits: { mailInboundPerTrialInboxPerHour: 1 } });
  const holder = await newOrg(relay);
  const { address } = await holder.inbox();
  const timestamp = relay.clock.seconds();
  const answers = await Promise.all(
    Array.from(
      { length: 8 },
      () => handIn(relay.url, { to: [address], raw: mailText(), timestamp }),
    ),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(503)]);
});
