/** The states of an org and the ways between them (specification, 3; docs/mail.md, "Orgs"). */
import assert from "node:assert/strict";
import { generateKeyPair } from "../../toolkit/generate_key_pair.ts";
import { accepted, assertMailRefused, MailKeyHolder, newOrg } from "../support/mail_caller.ts";
import { askMail, signRegistration } from "../support/mail_relay.ts";
import { startMailStore, verifyOrg } from "../support/mail_store.ts";
import type { TestRelay } from "../support/relay.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ADMIN_TOKEN = "an-admin-token-of-forty-characters-in-all";
const STORES = [["store of its own", false], ["shared store", true]] as const;
const CONFIG = { adminToken: ADMIN_TOKEN };

function suspend(relay: TestRelay, orgId: string, verb = "suspend") {
  return askMail(relay.url, "POST", `/v1/admin/mail/orgs/${orgId}/${verb}`, { key: ADMIN_TOKEN });
}

/** A request for each route that takes a key and exists; the state of the org stops all of them. */
async function everyKeyedRoute(holder: MailKeyHolder) {
  return await Promise.all([
    holder.readOrg(),
    holder.deleteOrg(),
    holder.createInbox(),
    holder.ask("GET", "/v1/mail/inboxes"),
    holder.ask("GET", "/v1/mail/inboxes/x@agents.test"),
    holder.ask("PATCH", "/v1/mail/inboxes/x@agents.test", { body: {} }),
    holder.ask("DELETE", "/v1/mail/inboxes/x@agents.test"),
    holder.createKey({ name: "k" }),
    holder.ask("GET", "/v1/mail/api-keys"),
    holder.ask("GET", "/v1/mail/api-keys/key_1"),
    holder.ask("DELETE", "/v1/mail/api-keys/key_1"),
  ]);
}

Deno.test("registration makes a trial of 24 hours with exactly the fields of the contract", async () => {
  await using world = await startMailStore();
  const { relay } = world;
  const nowMs = relay.clock.now();
  for (const [i, path] of ["register", "register-trial"].entries()) {
    const answer = await askMail(relay.url, "POST", `/v1/mail/agents/${path}`, {
      body: signRegistration(nowMs, generateKeyPair(), " first "),
    });
    const { org_id, api_key, key_prefix, note, ...rest } = accepted(answer, 201);
    assert.match(org_id, /^org_[0-9A-HJKMNP-TV-Z]{26}$/);
    assert.match(api_key, /^rm_sk_[A-Za-z0-9_-]{43}$/);
    assert.equal(key_prefix, api_key.slice(0, 12));
    assert.ok(note.length > 0 && !note.includes(api_key));
    assert.deepEqual(rest, { agent_id: i + 1, trial: true, expires_in_hours: 24 });
    assert.equal(answer.headers.get("cache-control"), "no-store");
    const holder = new MailKeyHolder(relay.url, api_key, org_id);
    const org = await holder.readOrg();
    assert.deepEqual(accepted(org, 200), {
      org_id,
      trial: true,
      verified_email: null,
      expires_at: new Date(nowMs + 24 * HOUR_MS).toISOString(),
      google_email: null,
      inboxes: { count: 0, limit: 1 },
      pending_claim: null,
    });
    assert.equal(org.headers.get("cache-control"), "no-store");
    const { data } = accepted(await holder.ask("GET", "/v1/mail/api-keys"), 200);
    assert.deepEqual(data.map((key: { name: string }) => key.name), ["first"]);
  }
});

Deno.test("a trial ends exactly 24 hours on: every keyed route is then 403 trial_expired", async () => {
  await using world = await startMailStore();
  const { relay } = world;
  const holder = await newOrg(relay);
  relay.clock.advance(24 * HOUR_MS - 1);
  accepted(await holder.readOrg(), 200);
  accepted(await holder.createInbox(), 201);
  relay.clock.advance(1);
  for (const answer of await everyKeyedRoute(holder)) assertMailRefused(answer, "trial_expired");
  relay.clock.advance(29 * DAY_MS);
  assertMailRefused(await holder.readOrg(), "trial_expired");
});

for (const [store, sharedStore] of STORES) {
  Deno.test(`30 days after its end a trial is gone, before the sweep has come, and its key may register anew, ${store}`, async () => {
    await using world = await startMailStore({ config: { sharedStore } });
    const { relay } = world;
    const keys = generateKeyPair();
    const register = () =>
      askMail(relay.url, "POST", "/v1/mail/agents/register", {
        body: signRegistration(relay.clock.now(), keys),
      });
    const first = accepted(await register(), 201);
    const holder = new MailKeyHolder(relay.url, first.api_key, first.org_id);
    const inbox = await holder.inbox({ local_part: "once" });
    relay.clock.advance(31 * DAY_MS - 1);
    assertMailRefused(await holder.readOrg(), "trial_expired");
    assertMailRefused(await register(), "handle_taken");
    relay.clock.advance(1);
    for (const answer of await everyKeyedRoute(holder)) assertMailRefused(answer, "unknown_key");
    const second = accepted(await register(), 201);
    assert.notEqual(second.org_id, first.org_id);
    assert.equal(second.agent_id, 2);
    // The purge of the first comes later and leaves the second alone.
    await relay.relay.crons.figures!();
    const again = new MailKeyHolder(relay.url, second.api_key, second.org_id);
    assert.equal(accepted(await again.readOrg(), 200).org_id, second.org_id);
    assertMailRefused(await register(), "handle_taken");
    assertMailRefused(await holder.readOrg(), "unknown_key");
    assertMailRefused(await again.ask("GET", `/v1/mail/inboxes/${inbox.id}`), "not_found");
    assertMailRefused(await again.createInbox({ local_part: "once" }), "address_taken");
  });
}

Deno.test("a verified org has no end, ten inboxes, and the purge of trials passes it by", async () => {
  await using world = await startMailStore();
  const { relay, kv } = world;
  const holder = await newOrg(relay);
  await holder.inbox();
  await verifyOrg(kv, holder.orgId, relay.clock.now());
  relay.clock.advance(40 * DAY_MS);
  await relay.relay.crons.figures!();
  assert.deepEqual(accepted(await holder.readOrg(), 200), {
    org_id: holder.orgId,
    trial: false,
    verified_email: "owner@example.org",
    expires_at: null,
    google_email: null,
    inboxes: { count: 1, limit: 10 },
    pending_claim: null,
  });
  assert.deepEqual(await Array.fromAsync(kv.list({ prefix: ["mail-trial"] })), []);
});

Deno.test("an expired trial that becomes verified works again with the keys and inboxes that it had", async () => {
  await using world = await startMailStore();
  const { relay, kv } = world;
  const holder = await newOrg(relay);
  const inbox = await holder.inbox();
  relay.clock.advance(25 * HOUR_MS);
  assertMailRefused(await holder.readOrg(), "trial_expired");
  await verifyOrg(kv, holder.orgId, relay.clock.now());
  const shown = accepted(await holder.ask("GET", `/v1/mail/inboxes/${inbox.id}`), 200);
  assert.equal(shown.status, "active");
});

for (const [store, sharedStore] of STORES) {
  Deno.test(`a deleted org is gone at once: its keys are unknown, its key pair stays taken for the replay window, ${store}`, async () => {
    await using world = await startMailStore({ config: { sharedStore } });
    const { relay } = world;
    const keys = generateKeyPair();
    const body = signRegistration(relay.clock.now(), keys);
    const register = (request: unknown) =>
      askMail(relay.url, "POST", "/v1/mail/agents/register", { body: request });
    const { org_id, api_key } = accepted(await register(body), 201);
    const holder = new MailKeyHolder(relay.url, api_key, org_id);
    for (const wrong of [{}, { org_id: "org_1" }, { org_id: null }, { org_id: [org_id] }]) {
      assertMailRefused(
        await holder.ask("DELETE", "/v1/mail/org", { body: wrong }),
        "invalid_json",
      );
    }
    assertMailRefused(await holder.ask("DELETE", "/v1/mail/org"), "invalid_json");
    accepted(await holder.deleteOrg(), 204);
    for (const answer of await everyKeyedRoute(holder)) assertMailRefused(answer, "unknown_key");
    await relay.relay.crons.figures!();
    // The very request that made it, as long as its signature passes, and a fresh one as well.
    for (const secondsOn of [0, 150, 150]) {
      relay.clock.advance(secondsOn * 1000);
      assertMailRefused(await register(body), "handle_taken");
      assertMailRefused(await register(signRegistration(relay.clock.now(), keys)), "handle_taken");
    }
    relay.clock.advance(1000);
    assertMailRefused(await register(body), "timestamp_out_of_range");
    relay.clock.advance(60_000);
    const again = accepted(await register(signRegistration(relay.clock.now(), keys)), 201);
    assert.notEqual(again.org_id, org_id);
  });
}

Deno.test("a registration signed ahead of the clock cannot be replayed after the org's deletion either", async () => {
  await using world = await startMailStore();
  const { relay } = world;
  const keys = generateKeyPair();
  const body = signRegistration(relay.clock.now() + 300_000, keys);
  const register = () => askMail(relay.url, "POST", "/v1/mail/agents/register", { body });
  const { org_id, api_key } = accepted(await register(), 201);
  accepted(await new MailKeyHolder(relay.url, api_key, org_id).deleteOrg(), 204);
  for (let minutes = 0; minutes < 10; minutes++) {
    assertMailRefused(await register(), "handle_taken");
    relay.clock.advance(60_000);
  }
  assertMailRefused(await register(), "handle_taken"); // exactly 300 s after its timestamp
  relay.clock.advance(1000);
  assertMailRefused(await register(), "timestamp_out_of_range");
});

Deno.test("a suspended org's keys are 403 org_suspended until the suspension is lifted; both may be repeated", async () => {
  await using world = await startMailStore({ config: CONFIG });
  const { relay } = world;
  const holder = await newOrg(relay);
  const other = await newOrg(relay);
  for (let i = 0; i < 2; i++) {
    const answer = accepted(await suspend(relay, holder.orgId), 200);
    assert.deepEqual(answer, { org_id: holder.orgId, suspended: true });
  }
  for (const answer of await everyKeyedRoute(holder)) assertMailRefused(answer, "org_suspended");
  accepted(await other.readOrg(), 200);
  for (let i = 0; i < 2; i++) {
    const answer = accepted(await suspend(relay, holder.orgId, "unsuspend"), 200);
    assert.deepEqual(answer, { org_id: holder.orgId, suspended: false });
  }
  accepted(await holder.readOrg(), 200);
  const logged = relay.logged.filter(({ event }) => event.startsWith("mail_org_"));
  assert.ok(logged.every(({ fields }) => fields.org_id === holder.orgId));
});

Deno.test("a suspended trial expires and is purged like others; what is gone can be neither suspended nor not", async () => {
  await using world = await startMailStore({ config: CONFIG });
  const { relay, kv } = world;
  const holder = await newOrg(relay);
  accepted(await suspend(relay, holder.orgId), 200);
  relay.clock.advance(24 * HOUR_MS);
  assertMailRefused(await holder.readOrg(), "trial_expired");
  relay.clock.advance(30 * DAY_MS);
  assertMailRefused(await holder.readOrg(), "unknown_key");
  assertMailRefused(await suspend(relay, holder.orgId), "not_found");
  assertMailRefused(await suspend(relay, holder.orgId, "unsuspend"), "not_found");
  await relay.relay.crons.figures!();
  assertMailRefused(await suspend(relay, holder.orgId), "not_found");
  assert.deepEqual(await Array.fromAsync(kv.list({ prefix: ["mail-org"] })), []);
});

Deno.test("suspend and unsuspend: 401 before 404 before 413 before 400, and an empty body counts as {}", async () => {
  await using world = await startMailStore({ config: CONFIG });
  const { relay } = world;
  const { orgId } = await newOrg(relay);
  const ask = (id: string, key: string | undefined, body?: string) =>
    askMail(relay.url, "POST", `/v1/admin/mail/orgs/${id}/suspend`, {
      ...(key === undefined ? {} : { key }),
      body,
    });
  const large = "x".repeat(300_000);
  for (const key of [undefined, "wrong", `${ADMIN_TOKEN}x`]) {
    const answer = await ask("org_1", key, large);
    assertMailRefused(answer, "unknown_token");
    assert.equal(answer.headers.get("www-authenticate"), "Bearer");
  }
  for (const id of ["org_1", orgId.toLowerCase(), `${orgId.slice(0, -1)}!`, `${orgId}%20`]) {
    assertMailRefused(await ask(id, ADMIN_TOKEN, large), "not_found");
  }
  assertMailRefused(await ask(orgId, ADMIN_TOKEN, large), "payload_too_large");
  for (const body of ["{", "[]", "null", '"x"', '{"a":1,"a":2}']) {
    assertMailRefused(await ask(orgId, ADMIN_TOKEN, body), "invalid_json");
  }
  accepted(await ask(orgId, ADMIN_TOKEN, '{"unknown":1}'), 200);
  accepted(await ask(orgId, ADMIN_TOKEN, ""), 200);
});
