/** RELAY_LIMITS takes no value that makes something never work: each relay here has all the greatest. */
import assert from "node:assert/strict";
import { GREATEST_LIMITS, parseLimits } from "../../server/base/config/limits.ts";
import type { OutRecord } from "../../server/messaging/mailboxes/agent_mailboxes.ts";
import { newKey } from "../support/custody_key.ts";
import { handIn, mailText } from "../support/inbound_mail.ts";
import { accepted, assertMailRefused, newOrg } from "../support/mail_caller.ts";
import { startMailRelay } from "../support/mail_relay.ts";
import { EVENT_TYPES } from "../../server/mail/records/event_record.ts";
import { NOBODY } from "../support/key_changes.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { deliver, newSendingOrg, readMessage, send } from "../support/sending_org.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents } from "../support/test_agent.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

Deno.test("RELAY_LIMITS takes each of the greatest values, and no greater one", () => {
  const named = Object.entries(GREATEST_LIMITS);
  assert.equal(named.length, 8, "a new one needs its part below");
  assert.deepEqual(parseLimits(JSON.stringify(GREATEST_LIMITS)), {
    ...parseLimits(undefined),
    ...GREATEST_LIMITS,
  });
  for (const [name, greatest] of named) {
    const greater = JSON.stringify({ [name]: greatest + 1 });
    assert.throws(() => parseLimits(greater), new RegExp(`${name} at most ${greatest}`));
  }
});

for (const sharedStore of [false, true]) {
  const kind = sharedStore ? "shared" : "exclusive";

  // That bodies fit, tests/messaging/body_size_test.ts says.
  Deno.test(`messages are sent for decades at the greatest limits (${kind} store)`, async () => {
    using kv = await openMemoryKv();
    const clockStartMs = Date.UTC(2026, 5, 1);
    const start = (startMs: number) =>
      startTestRelay({
        limits: { ...GREATEST_LIMITS, inboxPollIntervalMs: 0 },
        config: { sharedStore },
        deps: { kv },
        clockStartMs: startMs,
      });
    const first = await start(clockStartMs);
    const [alice] = await registerAgents(first, "alice", "bob_1");
    await first.stop();
    // As many days as a former version could count: with some more it refused every send.
    const key = ["out", 1];
    const today = Math.floor(clockStartMs / DAY_MS);
    const retained = Array.from({ length: 3_240 }, (_, i) => [today - 3_190 + i, 300_000]).flat();
    await kv.set(key, { ...(await kv.get<OutRecord>(key)).value!, retained });
    const relay = await start(clockStartMs);
    const sender = alice.at(relay);
    await sender.sent({ to: "bob_1", body: "at first" });
    for (let years = 5; years <= 60; years += 5) {
      relay.clock.set(clockStartMs + years * 365 * DAY_MS);
      await sender.sent({ to: "bob_1", body: `after ${years} years` });
    }
    const bodies = (await sender.outbox()).map(({ body }: { body: string }) => body);
    assert.equal(bodies.length, 13);
    assert.ok(bodies.includes("at first"));
    await relay.stop();
    assert.ok((await kv.get<OutRecord>(key)).value!.retained.length <= 2 * 102);
  });

  Deno.test(`keys, recipients and trials work at the greatest limits (${kind} store)`, async () => {
    await using relay = await startMailRelay({
      limits: { ...GREATEST_LIMITS, mailRecipientsPerOrgFirstDay: 1_000 },
      config: { sharedStore, ...(sharedStore ? { hosted: true, custodyKeys: [newKey()] } : {}) },
    });
    const owner = await newSendingOrg(relay);
    const inbox = await owner.inbox({ local_part: "x".repeat(60) });
    const year = new Date(relay.clock.now() + 365 * DAY_MS).toISOString();
    const most = GREATEST_LIMITS.mailKeysPerOrg!;
    const longest = {
      name: "\u{1F600}".repeat(100),
      scope: "inbox",
      inbox_id: inbox.id,
      permissions: ["inbox:read", "inbox:write"],
      expires_at: year,
    };
    for (let made = 1; made < most; made++) await owner.newKey(longest);
    assertMailRefused(await owner.createKey(longest), "key_limit_reached");
    const to = Array.from(
      { length: GREATEST_LIMITS.mailRecipientsPerMessage! },
      (_, i) => `${"r".repeat(60)}${String(i).padStart(3, "0")}@${"d".repeat(60)}.example.org`,
    );
    const { id } = accepted(await send(owner, inbox, { to }, { "Idempotency-Key": "k" }), 202);
    assert.equal((await readMessage(owner, id)).recipients.length, to.length);
    accepted(await owner.readOrg(), 200);
  });
}

for (const sharedStore of [false, true]) {
  const kind = sharedStore ? "shared" : "exclusive";

  Deno.test(`an org with the most webhooks that name the most inboxes goes on (${kind} store)`, async () => {
    await using relay = await startMailRelay({
      limits: { ...GREATEST_LIMITS, mailInboxesPerOrg: 50 },
      config: { sharedStore },
    });
    const owner = await newSendingOrg(relay);
    const inboxes: { id: string }[] = [];
    for (let made = 0; made < 50; made++) inboxes.push(await owner.inbox());
    const body = {
      url: `${NOBODY}?${"x".repeat(2_000)}`,
      events: EVENT_TYPES,
      inbox_ids: inboxes.map(({ id }) => id),
    };
    const most = GREATEST_LIMITS.mailWebhooksPerOrg!;
    const create = () => owner.ask("POST", "/v1/mail/webhooks", { body });
    for (let made = 0; made < most; made++) accepted(await create(), 201);
    assertMailRefused(await create(), "webhook_limit_reached");
    accepted(await send(owner, inboxes[0]!, {}), 202);
    await deliver(relay);
    const list = accepted(await owner.ask("GET", "/v1/mail/webhooks?limit=100"), 200);
    assert.equal(list.data.length, most);
  });
}

Deno.test("a trial of the greatest length receives to its last second", async () => {
  await using relay = await startMailRelay({ limits: GREATEST_LIMITS });
  const owner = await newOrg(relay);
  const { address } = await owner.inbox();
  const { expires_at } = accepted(await owner.readOrg(), 200);
  const endMs = Date.parse(expires_at);
  assert.equal(endMs - relay.clock.now(), GREATEST_LIMITS.mailTrialHours! * HOUR_MS);
  const receive = () =>
    handIn(relay.url, { to: [address], raw: mailText(), timestamp: relay.clock.seconds() });
  relay.clock.set(endMs - 1000);
  accepted(await receive(), 200);
  assert.equal(accepted(await owner.ask("GET", `/v1/mail/inboxes`), 200).data.length, 1);
});
