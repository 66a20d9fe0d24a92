/** POST /v1/mail/org/google: who gets in, and where. */
import assert from "node:assert/strict";
import { parseConfig } from "../../../server/base/config/config.ts";
import { googleKey } from "../../../server/mail/records/google_record.ts";
import { erasureKey, type ErasureRow } from "../../../server/mail/orgs/change_org.ts";
import { orgKey, type OrgRecord } from "../../../server/mail/records/org_record.ts";
import { keysKey, type KeysRecord } from "../../../server/mail/records/key_record.ts";
import {
  type GoogleIssuer,
  startGoogleIssuer,
  startGoogleRelay,
} from "../../support/google_issuer.ts";
import { askMail, type MailAnswer, registerOrg, startMailRelay } from "../../support/mail_relay.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import type { TestRelay } from "../../support/relay.ts";
import { signedIn, signIn } from "./google_calls.ts";

const ADMIN = "an-admin-token-of-tests-only-0123456789";
const DAY_MS = 86_400_000;

function refusedWith(answer: MailAnswer, status: number, code: string, message?: RegExp): void {
  assert.deepEqual([answer.status, answer.body.error?.code], [status, code]);
  if (message !== undefined) assert.match(answer.body.error.message, message);
}

async function keysOf(relay: TestRelay, key: string) {
  const { body } = await askMail(relay.url, "GET", "/v1/mail/api-keys?limit=100", { key });
  return body.data as { id: string; name: string; prefix: string; last_used_at: string | null }[];
}

Deno.test("an unknown account gets a verified org with a key, a known one its org again", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer);
  const answer = await signIn(relay, await issuer.token(relay.clock.now()));
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const { org_id, api_key, ...shown } = answer.body;
  assert.deepEqual(shown, {
    trial: false,
    verified_email: "ada@example.org",
    google_email: "ada@example.org",
  });
  const org = await askMail(relay.url, "GET", "/v1/mail/org", { key: api_key });
  assert.deepEqual(org.body, {
    org_id,
    trial: false,
    verified_email: "ada@example.org",
    expires_at: null,
    google_email: "ada@example.org",
    inboxes: { count: 0, limit: 10 },
    pending_claim: null,
  });
  const inbox = await askMail(relay.url, "POST", "/v1/mail/inboxes", { key: api_key, body: {} });
  assert.equal(inbox.status, 201);

  // The same token once more, then one in Google's other spelling, a year later, of a new address.
  const again = await signedIn(relay, await issuer.token(relay.clock.now()));
  assert.equal(again.org_id, org_id);
  assert.notEqual(again.api_key, api_key);
  relay.clock.advance(365 * DAY_MS);
  const claims = { iss: "accounts.google.com", email: "ada@lovelace.example" };
  const later = await signedIn(relay, await issuer.token(relay.clock.now(), claims));
  assert.deepEqual(
    [later.org_id, later.verified_email, later.google_email],
    [org_id, "ada@example.org", "ada@lovelace.example"],
  );
  const keys = await keysOf(relay, api_key);
  assert.deepEqual(
    keys.map(({ name }) => name),
    ["google 2026-06-01", "google 2026-06-01", "google 2027-06-01"],
  );
});

Deno.test("two accounts with one e-mail address have two orgs", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer);
  const first = await signedIn(relay, await issuer.token(relay.clock.now()));
  const second = await signedIn(relay, await issuer.token(relay.clock.now(), { sub: "1002" }));
  assert.notEqual(first.org_id, second.org_id);
  assert.equal(first.verified_email, second.verified_email);
});

Deno.test("without RELAY_GOOGLE_CLIENT_ID sign-in and attach are 503, unlinking is not", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startMailRelay();
  const { apiKey: key } = await registerOrg(relay);
  for (const body of [undefined, "{", {}, { id_token: await issuer.token(relay.clock.now()) }]) {
    const off = await askMail(relay.url, "POST", "/v1/mail/org/google", { body });
    refusedWith(off, 503, "google_signin_disabled");
    const attach = await askMail(relay.url, "POST", "/v1/mail/org/attach", { key, body });
    refusedWith(attach, 503, "google_signin_disabled");
  }
  refusedWith(await askMail(relay.url, "POST", "/v1/mail/org/attach"), 401, "missing_token");
  const unlink = await askMail(relay.url, "DELETE", "/v1/mail/org/google", { key });
  refusedWith(unlink, 409, "last_identity");
  assert.equal(issuer.asked, 0);
  const [note] = relay.relay.startupNotes().filter((line) => line.startsWith("  google "));
  assert.match(note!, /off: RELAY_GOOGLE_CLIENT_ID is unset, sign-in with Google answers 503$/);
});

Deno.test("a body without an id_token is 400, and asks nobody", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer);
  for (
    const body of [undefined, "[]", "{", {}, { id_token: null }, { id_token: 1 }, { token: "x" }]
  ) {
    const answer = await askMail(relay.url, "POST", "/v1/mail/org/google", { body });
    refusedWith(answer, 400, "invalid_json");
  }
  const large = { id_token: "x".repeat(300_000) };
  const answer = await askMail(relay.url, "POST", "/v1/mail/org/google", { body: large });
  refusedWith(answer, 413, "payload_too_large");
  assert.equal(issuer.asked, 0);
});

Deno.test("an eleventh sign-in takes the least recently used key of the others, and none that was made otherwise", async () => {
  const kv = await openMemoryKv();
  try {
    await using issuer = await startGoogleIssuer();
    await using relay = await startGoogleRelay(issuer, { deps: { kv } });
    const { clock } = relay;
    const next = async () => {
      clock.advance(60_000);
      return await signedIn(relay, await issuer.token(clock.now()));
    };
    const first = await next();
    const made = await askMail(relay.url, "POST", "/v1/mail/api-keys", {
      key: first.api_key,
      body: { name: "by hand" },
    });
    assert.equal(made.status, 201);
    const others = [];
    for (let i = 0; i < 9; i++) others.push(await next());
    clock.advance(60_000);
    await keysOf(relay, first.api_key); // used: the second one is now the least recently used
    const eleventh = await next();
    const stored = (await kv.get<KeysRecord>(keysKey(first.org_id))).value!;
    assert.equal(stored.keys.length, 11);
    assert.equal(stored.keys.filter(({ signIn }) => signIn).length, 10);
    const opens = async (key: string) =>
      (await askMail(relay.url, "GET", "/v1/mail/org", { key })).status;
    assert.equal(await opens(others[0]!.api_key), 401);
    const living = [first, ...others.slice(1), eleventh].map(({ api_key }) => api_key);
    for (const key of [...living, made.body.api_key]) assert.equal(await opens(key), 200);
    // Nothing is left of the key that made room.
    const rows: string[] = [];
    for await (const { key } of kv.list({ prefix: ["mail-key"] })) rows.push(key[1] as string);
    assert.deepEqual(rows.toSorted(), stored.keys.map(({ hash }) => hash).toSorted());
    await relay.stop();
  } finally {
    kv.close();
  }
});

Deno.test("a suspended org's account gets no key, and its own again when the suspension is lifted", async () => {
  await using issuer = await startGoogleIssuer();
  const { mail } = parseConfig({ RELAY_MAIL_DEV: "true", ...issuer.env });
  await using relay = await startMailRelay({ config: { mail, adminToken: ADMIN } });
  const token = await issuer.token(relay.clock.now());
  const { org_id, api_key } = await signedIn(relay, token);
  const decide = async (what: string) =>
    (await askMail(relay.url, "POST", `/v1/admin/mail/orgs/${org_id}/${what}`, { key: ADMIN }))
      .status;
  assert.equal(await decide("suspend"), 200);
  refusedWith(await signIn(relay, token), 403, "org_suspended");
  assert.equal(await decide("unsuspend"), 200);
  assert.equal((await keysOf(relay, api_key)).length, 1);
  assert.equal((await signedIn(relay, token)).org_id, org_id);
});

Deno.test("the account of an org that is to be erased gets a new org, from which the sweep takes nothing", async () => {
  const kv = await openMemoryKv();
  try {
    await using issuer = await startGoogleIssuer();
    const { mail } = parseConfig({ RELAY_MAIL_DEV: "true", ...issuer.env });
    // A relay of a shared store sees what the test writes.
    await using relay = await startMailRelay({ config: { mail, sharedStore: true }, deps: { kv } });
    const token = await issuer.token(relay.clock.now());
    const first = await signedIn(relay, token);
    // As the commit of a deletion leaves it, with the sweep yet to come.
    const { value: org } = await kv.get<OrgRecord>(orgKey(first.org_id));
    const erasure: ErasureRow = { v: 1, sinceMs: relay.clock.now(), keyHashes: [] };
    await kv.set(orgKey(first.org_id), { ...org!, deletedAtMs: relay.clock.now() });
    await kv.set(erasureKey(first.org_id), erasure);
    const second = await signedIn(relay, token);
    assert.notEqual(second.org_id, first.org_id);
    await relay.relay.crons.figures!();
    assert.equal((await kv.get(orgKey(first.org_id))).value, null);
    assert.equal((await kv.get<{ orgId: string }>(googleKey("1001"))).value?.orgId, second.org_id);
    assert.equal((await signedIn(relay, token)).org_id, second.org_id);
    await relay.stop();
  } finally {
    kv.close();
  }
});

Deno.test("nothing of an account is left when its org is erased", async () => {
  const kv = await openMemoryKv();
  try {
    await using issuer = await startGoogleIssuer();
    await using relay = await startGoogleRelay(issuer, { deps: { kv } });
    const { org_id, api_key: key } = await signedIn(
      relay,
      await issuer.token(relay.clock.now()),
    );
    assert.notEqual((await kv.get(googleKey("1001"))).value, null);
    const deletion = await askMail(relay.url, "DELETE", "/v1/mail/org", { key, body: { org_id } });
    assert.equal(deletion.status, 204);
    await relay.relay.crons.figures!();
    // The mark of an address ends by itself within hours (records/verified_email.ts).
    const rows = (await Array.fromAsync(kv.list({ prefix: [] })))
      .filter(({ key: [kind] }) => kind !== "mail-email");
    assert.ok(rows.length > 0);
    const shown = Deno.inspect(rows, { depth: Infinity, iterableLimit: Infinity });
    assert.doesNotMatch(shown, /"1001"|ada@example/);
    await relay.stop();
  } finally {
    kv.close();
  }
});

Deno.test("a new org's address must not be an inbox here; an account that has an org may change to one", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer);
  const own = { email: "someone@AGENTS.test" };
  const refused = await signIn(relay, await issuer.token(relay.clock.now(), own));
  refusedWith(refused, 401, "invalid_google_token", /this relay's own inboxes/);
  await signedIn(relay, await issuer.token(relay.clock.now()));
  const changed = await signedIn(relay, await issuer.token(relay.clock.now(), own));
  assert.deepEqual(
    [changed.verified_email, changed.google_email],
    ["ada@example.org", "someone@agents.test"],
  );
});

Deno.test("neither a token nor an address of an account reaches the log", async () => {
  await using issuer: GoogleIssuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer);
  const token = await issuer.token(relay.clock.now());
  await signedIn(relay, token);
  await signIn(relay, token.slice(0, -10));
  issuer.answer = () => new Response("no", { status: 500 });
  await signIn(relay, await issuer.token(relay.clock.now(), {}, { kid: "other" }));
  const said = JSON.stringify(relay.logged);
  assert.match(said, /mail_org_made/);
  assert.doesNotMatch(said, /ada@|1001|eyJ|rm_sk_/i);
});

Deno.test("signing in again ends no key that was used within a day while there is one that was not", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer);
  const { clock } = relay;
  const next = async () => {
    clock.advance(60_000);
    return await signedIn(relay, await issuer.token(clock.now()));
  };
  const inUse = (await next()).api_key;
  clock.advance(60_000);
  const opens = async (key: string) =>
    (await askMail(relay.url, "GET", "/v1/mail/org", { key })).status;
  assert.equal(await opens(inUse), 200);
  // Somebody else with the account signs in again and again, with keys that nobody uses.
  clock.advance(20 * 3_600_000);
  for (let i = 0; i < 25; i++) await next();
  assert.equal(await opens(inUse), 200);
});
