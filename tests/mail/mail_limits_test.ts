/** Limits of the mail area at their edges, by one relay and by two on one store. */
import assert from "node:assert/strict";
import { generateKeyPair } from "../../toolkit/generate_key_pair.ts";
import { newKey } from "../support/custody_key.ts";
import { accepted, assertMailRefused, MailKeyHolder, newOrg } from "../support/mail_caller.ts";
import { startMailPair } from "../support/mail_pair.ts";
import { askMail, signRegistration, startMailRelay } from "../support/mail_relay.ts";
import { startMailStore, verifyOrg } from "../support/mail_store.ts";
import { openMemoryKv } from "../support/read_through.ts";
import type { TestRelay } from "../support/relay.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const CUSTODY = newKey();

function register({ url, clock }: TestRelay, keys = generateKeyPair(), from?: string) {
  return askMail(url, "POST", "/v1/mail/agents/register", {
    body: signRegistration(clock.now(), keys),
    headers: from === undefined ? {} : { "X-Forwarded-For": from },
  });
}

const countStatus = (answers: readonly { status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

Deno.test("five registrations an address an hour, whichever path and relay; refusals do not count", async () => {
  await using pair = await startMailPair();
  const [one, two] = pair.relays;
  const keys = generateKeyPair();
  accepted(await register(one, keys), 201);
  for (let i = 0; i < 10; i++) assertMailRefused(await register(two, keys), "handle_taken");
  pair.clock.advance(1000);
  for (const relay of [two, one, two]) accepted(await register(relay), 201);
  const trial = await askMail(one.url, "POST", "/v1/mail/agents/register-trial", {
    body: signRegistration(pair.clock.now()),
  });
  accepted(trial, 201);
  for (const relay of [one, two]) {
    const refused = await register(relay);
    assertMailRefused(refused, "rate_limited");
    assert.equal(refused.body.retry_after_ms, HOUR_MS - 1000);
    assert.equal(refused.headers.get("retry-after"), "3599");
  }
  pair.clock.advance(HOUR_MS - 1001);
  assertMailRefused(await register(two), "rate_limited");
  pair.clock.advance(1);
  accepted(await register(two), 201);
  assertMailRefused(await register(one), "rate_limited");
});

Deno.test("of 20 registrations at once from one address over two relays five are accepted", async () => {
  await using pair = await startMailPair();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => register(pair.relays[i % 2]!)),
  );
  assert.deepEqual([countStatus(answers, 201), countStatus(answers, 429)], [5, 15]);
  const numbers = answers.filter(({ status }) => status === 201).map(({ body }) => body.agent_id);
  assert.deepEqual(numbers.sort(), [1, 2, 3, 4, 5]);
});

Deno.test("addresses are those behind the trusted proxies: IPv6 by /64, forged entries do not count", async () => {
  await using relay = await startMailRelay({
    limits: { mailRegistrationsPerIpPerHour: 1 },
    config: { trustedProxyHops: 1 },
  });
  const from = (address: string) => register(relay, generateKeyPair(), address);
  accepted(await from("192.0.2.1"), 201);
  assertMailRefused(await from("198.51.100.9, 192.0.2.1"), "rate_limited");
  assertMailRefused(await from("::ffff:192.0.2.1"), "rate_limited");
  accepted(await from("192.0.2.1, 192.0.2.2"), 201);
  accepted(await from("2001:db8::1"), 201);
  assertMailRefused(await from("2001:db8::ffff:1"), "rate_limited");
  accepted(await from("2001:db8:0:1::1"), 201);
});

Deno.test("registrations for mail and for messages are counted apart", async () => {
  await using relay = await startMailRelay({ limits: { registrationsPerIpPerHour: 1 } });
  const agent = { handle: "alice", pubkey: generateKeyPair().address };
  accepted(await askMail(relay.url, "POST", "/v1/register", { body: agent }), 201);
  for (let i = 0; i < 5; i++) accepted(await register(relay), 201);
  assertMailRefused(await register(relay), "rate_limited");
});

Deno.test("a trial has one inbox, a verified org ten; a deleted one makes room", async () => {
  await using world = await startMailStore();
  const { relay, kv } = world;
  const owner = await newOrg(relay);
  const first = await owner.inbox();
  assertMailRefused(await owner.createInbox(), "inbox_limit_reached", /trial.*claim/);
  accepted(await owner.ask("DELETE", `/v1/mail/inboxes/${first.id}`), 204);
  await owner.inbox();
  await verifyOrg(kv, owner.orgId, relay.clock.now());
  for (let i = 1; i < 10; i++) await owner.inbox();
  assertMailRefused(await owner.createInbox(), "inbox_limit_reached", /at most 10/);
  const { inboxes } = accepted(await owner.readOrg(), 200);
  assert.deepEqual(inboxes, { count: 10, limit: 10 });
});

Deno.test("of 20 inboxes made at once over two relays a verified org gets ten, a trial one", async () => {
  await using pair = await startMailPair();
  const [one, two] = pair.relays;
  for (const limit of [1, 10]) {
    const owner = await newOrg(one);
    if (limit === 10) await verifyOrg(pair.kv, owner.orgId, pair.clock.now());
    const holders = [owner, owner.at(two)];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => holders[i % 2]!.createInbox()),
    );
    assert.deepEqual([countStatus(answers, 201), countStatus(answers, 403)], [limit, 20 - limit]);
    const { data } = accepted(await owner.ask("GET", "/v1/mail/inboxes"), 200);
    assert.equal(data.length, limit);
    assert.equal(accepted(await owner.readOrg(), 200).inboxes.count, limit);
  }
});

Deno.test("50 keys an org, by two relays; the longest names fit, a deleted or expired one makes room", async () => {
  await using pair = await startMailPair();
  const [one, two] = pair.relays;
  const owner = await newOrg(one);
  const holders = [owner, owner.at(two)];
  const expires_at = new Date(pair.clock.now() + DAY_MS).toISOString();
  const mortal = await owner.newKey({ name: "mortal", expires_at });
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => holders[i % 2]!.createKey({ name: "😀".repeat(100) })),
  );
  assert.deepEqual([countStatus(answers, 201), countStatus(answers, 409)], [48, 12]);
  for (const holder of holders) {
    assertMailRefused(await holder.createKey({ name: "k" }), "key_limit_reached");
  }
  const { id } = answers.find(({ status }) => status === 201)!.body;
  accepted(await holders[1]!.ask("DELETE", `/v1/mail/api-keys/${id}`), 204);
  await owner.newKey({ name: "in its place" });
  assertMailRefused(await owner.createKey({ name: "k" }), "key_limit_reached");
  await verifyOrg(pair.kv, owner.orgId, pair.clock.now());
  pair.clock.advance(DAY_MS);
  assertMailRefused(await owner.with(mortal.api_key).readOrg(), "expired_key");
  await owner.newKey({ name: "in the place of the expired one" });
  assertMailRefused(await owner.createKey({ name: "k" }), "key_limit_reached");
});

Deno.test("limits are the operator's: RELAY_LIMITS rules what is accepted and what answers tell", async () => {
  await using relay = await startMailRelay({
    limits: { mailTrialHours: 2, mailTrialPurgeDays: 1, mailInboxesPerTrial: 2, mailKeysPerOrg: 1 },
  });
  const { org_id, api_key, expires_in_hours, note } = accepted(await register(relay), 201);
  assert.equal(expires_in_hours, 2);
  assert.match(note, /2 hours/);
  const owner = new MailKeyHolder(relay.url, api_key, org_id);
  assertMailRefused(await owner.createKey({ name: "k" }), "key_limit_reached");
  for (let i = 0; i < 2; i++) await owner.inbox();
  assertMailRefused(await owner.createInbox(), "inbox_limit_reached");
  relay.clock.advance(2 * HOUR_MS);
  assertMailRefused(await owner.readOrg(), "trial_expired", /1 days after/);
  relay.clock.advance(DAY_MS);
  assertMailRefused(await owner.readOrg(), "unknown_key");
});

Deno.test("a full disk refuses what would be stored with 503 unavailable; reads and deletions go on", async () => {
  using kv = await openMemoryKv();
  const { orgId, key, inbox } = await (async () => {
    await using relay = await startMailRelay({ deps: { kv }, config: { custodyKeys: [CUSTODY] } });
    const owner = await newOrg(relay);
    return { ...owner, inbox: await owner.inbox() };
  })();
  await using relay = await startMailRelay({
    deps: { kv },
    config: { custodyKeys: [CUSTODY] },
    relay: { measureFreeBytes: () => Promise.resolve(1e6) },
  });
  const owner = new MailKeyHolder(relay.url, key, orgId);
  const path = `/v1/mail/inboxes/${inbox.id}`;
  for (
    const answer of [
      await owner.createInbox(),
      await owner.ask("PATCH", path, { body: { display_name: "x" } }),
      await register(relay),
    ]
  ) {
    assertMailRefused(answer, "unavailable");
    assert.notEqual(answer.headers.get("retry-after"), null);
  }
  accepted(await owner.readOrg(), 200);
  accepted(await owner.ask("GET", path), 200);
  accepted(await owner.ask("DELETE", path), 204);
  accepted(await owner.deleteOrg(), 204);
});

Deno.test("an org takes ten addresses a day for each inbox that it may have, deleted ones included", async () => {
  await using relay = await startMailRelay({ limits: { mailTrialHours: 72 } });
  const owner = await newOrg(relay);
  const made: string[] = [];
  for (let i = 0; i < 10; i++) {
    const { id } = await owner.inbox({ client_id: `c${i}` });
    made.push(id);
    // A retry takes no further address.
    assert.equal(accepted(await owner.createInbox({ client_id: `c${i}` }), 200).id, id);
    accepted(await owner.ask("DELETE", `/v1/mail/inboxes/${id}`), 204);
  }
  assert.equal(new Set(made).size, 10);
  const refused = await owner.createInbox({ local_part: "bob" });
  assertMailRefused(refused, "rate_limited", /at most 10 addresses a day/);
  assert.equal(refused.body.retry_after_ms, DAY_MS);
  relay.clock.advance(DAY_MS - 1);
  assertMailRefused(await owner.createInbox(), "rate_limited");
  relay.clock.advance(1);
  await owner.inbox({ local_part: "bob" });
});
