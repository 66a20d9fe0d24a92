/** When keys were last used, and what becomes of those that expired (docs/mail.md, "Keys"). */
import assert from "node:assert/strict";
import { newKey } from "../../support/custody_key.ts";
import { accepted, assertMailRefused, MailKeyHolder, newOrg } from "../../support/mail_caller.ts";
import { startMailPair } from "../../support/mail_pair.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { startMailStore } from "../../support/mail_store.ts";
import { createTestClock } from "../../support/clock.ts";
import { openMemoryKv } from "../../support/read_through.ts";

const DAY_MS = 86_400_000;
const LIMITS = { mailTrialHours: 24 * 365 };

async function lastUsed(holder: MailKeyHolder, keyId: string): Promise<string | null> {
  return accepted(await holder.ask("GET", `/v1/mail/api-keys/${keyId}`), 200).last_used_at;
}

const text = (ms: number) => new Date(ms).toISOString();

Deno.test("last_used_at: null before the first use, then the last accepted request, refused and HEAD ones not", async () => {
  await using world = await startMailStore({ limits: LIMITS });
  const { relay } = world;
  const owner = await newOrg(relay);
  const made = await owner.newKey({ name: "r", permissions: ["inbox:read"] });
  const holder = owner.with(made.api_key);
  assert.equal(made.last_used_at, null);
  assert.equal(await lastUsed(owner, made.id), null);
  await holder.ask("HEAD", "/v1/mail/org");
  assert.equal(await lastUsed(owner, made.id), null);
  for (let i = 0; i < 3; i++) {
    relay.clock.advance(1000);
    accepted(await holder.readOrg(), 200);
    const usedAt = text(relay.clock.now());
    relay.clock.advance(1000);
    await holder.ask("HEAD", "/v1/mail/org");
    assert.equal(await lastUsed(owner, made.id), usedAt);
    const { data } = accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200);
    const listed = data.find(({ id }: { id: string }) => id === made.id);
    assert.equal(listed.last_used_at, usedAt);
    if (i === 1) await relay.relay.crons.figures!();
  }
});

Deno.test("last_used_at outlives a restart, and is lost for a minute at most by a crash", async () => {
  using kv = await openMemoryKv();
  const clock = createTestClock();
  const custodyKeys = [newKey()];
  const start = () =>
    startMailRelay({ config: { custodyKeys }, deps: { kv, now: clock.now }, limits: LIMITS });
  const first = await start();
  const owner = await newOrg(Object.assign(first, { clock }));
  const made = await owner.newKey({ name: "k" });
  const holder = owner.with(made.api_key);
  accepted(await holder.readOrg(), 200);
  const usedAtMs = clock.now();
  await first.stop();
  clock.advance(1_000_000);
  const second = await start();
  assert.equal(await lastUsed(owner.at(second), made.id), text(usedAtMs));
  accepted(await holder.at(second).readOrg(), 200);
  const minuteAtMs = clock.now();
  await second.relay.crons.figures!();
  // What a relay that is killed now leaves behind.
  const { value } = await kv.get(["mail-key-used", owner.orgId, made.id]);
  assert.equal(value, minuteAtMs);
  await second.stop();
});

Deno.test("a relay that writes late does not set back what another wrote before", async () => {
  await using pair = await startMailPair({ limits: LIMITS });
  const [one, two] = pair.relays;
  const owner = await newOrg(one);
  const made = await owner.newKey({ name: "k" });
  const holder = owner.with(made.api_key);
  accepted(await holder.readOrg(), 200);
  pair.clock.advance(30_000);
  accepted(await holder.at(two).readOrg(), 200);
  const usedAt = text(pair.clock.now());
  await two.relay.crons.figures!();
  await one.relay.crons.figures!();
  assert.equal(await lastUsed(owner, made.id), usedAt);
  assert.equal(await lastUsed(owner.at(two), made.id), usedAt);
});

for (const alone of [false, true]) {
  Deno.test(`the last use of a key goes with the key, ${alone ? "at one relay alone" : "at two relays"}`, async () => {
    await using pair = await startMailPair({ limits: LIMITS, alone });
    const [one, two] = pair.relays;
    const owner = await newOrg(one);
    const inbox = await owner.inbox();
    const expires_at = text(pair.clock.now() + 1000);
    const bodies = [
      { name: "deleted" },
      { name: "of an inbox", scope: "inbox", inbox_id: inbox.id },
      { name: "expired", expires_at },
    ];
    const made: { id: string; api_key: string }[] = [];
    for (const body of bodies) made.push(await owner.newKey(body));
    const useAll = async () => {
      for (const { api_key } of made) {
        accepted(await owner.at(two).with(api_key).ask("GET", "/v1/mail/inboxes"), 200);
      }
    };
    await useAll();
    await two.relay.crons.figures!();
    await useAll(); // still to be written by the second relay
    accepted(await owner.ask("DELETE", `/v1/mail/api-keys/${made[0]!.id}`), 204);
    accepted(await owner.ask("DELETE", `/v1/mail/inboxes/${inbox.id}`), 204);
    pair.clock.advance(1000 + 30 * DAY_MS);
    await owner.newKey({ name: "another" }); // drops what has been expired for long
    for (const { relay } of [two, one, two]) await relay.crons.figures!();
    const used = await Array.fromAsync(pair.kv.list({ prefix: ["mail-key-used"] }));
    const { data } = accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200);
    const standing = data.map(({ id }: { id: string }) => id);
    assert.deepEqual(standing.length, 2);
    for (const { key } of used) assert.ok(standing.includes(key[2]), `${key}`);
    // The rows of hashes go with the next commits on keys.
    accepted(await owner.ask("DELETE", `/v1/mail/api-keys/${standing.at(-1)}`), 204);
    const hashes = await Array.fromAsync(pair.kv.list({ prefix: ["mail-key"] }));
    assert.equal(hashes.length, 1);
  });
}

Deno.test("an expired key is expired_key for 30 days and unknown_key after, on the millisecond", async () => {
  await using world = await startMailStore({ limits: LIMITS });
  const { relay } = world;
  const owner = await newOrg(relay);
  const expiresAtMs = relay.clock.now() + DAY_MS;
  const made = await owner.newKey({ name: "k", expires_at: text(expiresAtMs) });
  const holder = owner.with(made.api_key);
  relay.clock.set(expiresAtMs - 1);
  accepted(await holder.readOrg(), 200);
  for (const atMs of [expiresAtMs, expiresAtMs + 30 * DAY_MS - 1]) {
    relay.clock.set(atMs);
    const answer = await holder.readOrg();
    assertMailRefused(answer, "expired_key");
    assert.equal(answer.headers.get("www-authenticate"), "Bearer");
    // Other keys come and go meanwhile.
    const { id } = await owner.newKey({ name: "other" });
    accepted(await owner.ask("DELETE", `/v1/mail/api-keys/${id}`), 204);
  }
  relay.clock.set(expiresAtMs + 30 * DAY_MS);
  assertMailRefused(await holder.readOrg(), "unknown_key");
});

Deno.test("an expired key is told from the state of its org: expired_key comes before trial_expired", async () => {
  await using world = await startMailStore();
  const { relay } = world;
  const owner = await newOrg(relay);
  const made = await owner.newKey({ name: "k", expires_at: text(relay.clock.now() + 1000) });
  relay.clock.advance(DAY_MS);
  assertMailRefused(await owner.with(made.api_key).readOrg(), "expired_key");
  assertMailRefused(await owner.readOrg(), "trial_expired");
});

Deno.test("a deleted key is unknown at once on every relay", async () => {
  await using pair = await startMailPair();
  const [one, two] = pair.relays;
  const owner = await newOrg(one);
  const made = await owner.newKey({ name: "k" });
  for (const relay of [one, two]) {
    accepted(await owner.at(relay).with(made.api_key).readOrg(), 200);
  }
  accepted(await owner.at(two).ask("DELETE", `/v1/mail/api-keys/${made.id}`), 204);
  for (const relay of [one, two]) {
    assertMailRefused(await owner.at(relay).with(made.api_key).readOrg(), "unknown_key");
  }
});
