/** POST /v1/mail/org/attach and DELETE /v1/mail/org/google: an org gets an identity, and loses it. */
import assert from "node:assert/strict";
import { googleKey } from "../../../server/mail/records/google_record.ts";
import { orgKey, type OrgRecord } from "../../../server/mail/records/org_record.ts";
import { startGoogleIssuer, startGoogleRelay } from "../../support/google_issuer.ts";
import { askMail, type MailAnswer, registerOrg } from "../../support/mail_relay.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import type { TestRelay } from "../../support/relay.ts";
import { attach, signedIn, signIn, unlink } from "./google_calls.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function refusedWith(answer: MailAnswer, status: number, code: string, message?: RegExp): void {
  assert.deepEqual([answer.status, answer.body.error?.code], [status, code]);
  if (message !== undefined) assert.match(answer.body.error.message, message);
}

const readOrg = ({ url }: TestRelay, key: string) => askMail(url, "GET", "/v1/mail/org", { key });

/** A relay over a store that the test reads beside it. */
async function withStore(
  test: (rig: {
    kv: Deno.Kv;
    relay: TestRelay;
    token(claims?: Record<string, unknown>): Promise<string>;
  }) => Promise<void>,
): Promise<void> {
  const kv = await openMemoryKv();
  try {
    await using issuer = await startGoogleIssuer();
    await using relay = await startGoogleRelay(issuer, { deps: { kv } });
    await test({ kv, relay, token: (claims) => issuer.token(relay.clock.now(), claims) });
    await relay.stop();
  } finally {
    kv.close();
  }
}

async function trialsIn(kv: Deno.Kv): Promise<number> {
  return (await Array.fromAsync(kv.list({ prefix: ["mail-trial"] }))).length;
}

Deno.test("attach makes a trial a verified org, and sign-in then finds it", () =>
  withStore(async ({ kv, relay, token }) => {
    const { orgId, apiKey } = await registerOrg(relay);
    relay.clock.advance(HOUR_MS);
    const answer = await attach(relay, apiKey, await token());
    const verified = {
      org_id: orgId,
      trial: false,
      verified_email: "ada@example.org",
      expires_at: null,
      google_email: "ada@example.org",
      inboxes: { count: 0, limit: 10 },
      pending_claim: null,
    };
    assert.deepEqual([answer.status, answer.body], [200, verified]);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.deepEqual((await readOrg(relay, apiKey)).body, verified);
    assert.equal(await trialsIn(kv), 0);
    const { value } = await kv.get<OrgRecord>(orgKey(orgId));
    assert.equal(value!.verifiedAtMs, relay.clock.now());

    assert.equal((await signedIn(relay, await token())).org_id, orgId);
    relay.clock.advance(40 * DAY_MS);
    await relay.relay.crons.figures!();
    assert.equal((await readOrg(relay, apiKey)).status, 200, "no purge takes it any more");
  }));

Deno.test("attaching the same account again is 200, and only google_email follows the token", () =>
  withStore(async ({ kv, relay, token }) => {
    const { orgId, apiKey } = await registerOrg(relay);
    assert.equal((await attach(relay, apiKey, await token())).status, 200);
    const { value: before } = await kv.get<OrgRecord>(orgKey(orgId));
    relay.clock.advance(HOUR_MS);
    const again = await attach(relay, apiKey, await token({ email: "ada@lovelace.example" }));
    assert.equal(again.status, 200);
    assert.deepEqual(
      [again.body.verified_email, again.body.google_email],
      ["ada@example.org", "ada@lovelace.example"],
    );
    const { value: after } = await kv.get<OrgRecord>(orgKey(orgId));
    const { google: _, ...kept } = after!;
    const { google: __, ...had } = before!;
    assert.deepEqual(kept, had);
  }));

Deno.test("an expired trial is recovered by attach until its purge, with its key, inboxes and agent", () =>
  withStore(async ({ relay, token }) => {
    const { apiKey } = await registerOrg(relay);
    const made = await askMail(relay.url, "POST", "/v1/mail/inboxes", { key: apiKey, body: {} });
    assert.equal(made.status, 201);
    relay.clock.advance(DAY_MS);
    refusedWith(await readOrg(relay, apiKey), 403, "trial_expired");
    refusedWith(await unlink(relay, apiKey), 403, "trial_expired");
    relay.clock.advance(30 * DAY_MS - 1);
    const answer = await attach(relay, apiKey, await token());
    assert.deepEqual([answer.status, answer.body.trial], [200, false]);
    const inbox = await askMail(relay.url, "GET", `/v1/mail/inboxes/${made.body.id}`, {
      key: apiKey,
    });
    assert.deepEqual([inbox.status, inbox.body.status], [200, "active"]);
    relay.clock.advance(DAY_MS);
    await relay.relay.crons.figures!();
    assert.equal((await readOrg(relay, apiKey)).status, 200);
  }));

Deno.test("a trial that is to be purged is recovered by nothing", () =>
  withStore(async ({ kv, relay, token }) => {
    const { apiKey } = await registerOrg(relay);
    relay.clock.advance(31 * DAY_MS);
    refusedWith(await attach(relay, apiKey, await token()), 401, "unknown_key");
    await relay.relay.crons.figures!();
    assert.equal((await kv.get(googleKey("1001"))).value, null);
  }));

Deno.test("an account has one org, and an org one account: 409 identity_in_use", () =>
  withStore(async ({ relay, token }) => {
    const first = await registerOrg(relay);
    const second = await registerOrg(relay);
    assert.equal((await attach(relay, first.apiKey, await token())).status, 200);
    const other = await attach(relay, second.apiKey, await token());
    refusedWith(other, 409, "identity_in_use", /linked to another org/);
    const changed = await attach(relay, first.apiKey, await token({ sub: "1002" }));
    refusedWith(changed, 409, "identity_in_use", /another Google identity/);
    assert.equal((await readOrg(relay, second.apiKey)).body.trial, true, "nothing was recovered");

    // An account that has made its org by sign-in belongs to that one.
    await signedIn(relay, await token({ sub: "1003" }));
    const taken = await attach(relay, second.apiKey, await token({ sub: "1003" }));
    refusedWith(taken, 409, "identity_in_use");
  }));

Deno.test("unlinking frees the account, keeps keys and address, and may be repeated", () =>
  withStore(async ({ kv, relay, token }) => {
    const { orgId, apiKey } = await registerOrg(relay);
    refusedWith(await unlink(relay, apiKey), 409, "last_identity", /claim it first/);
    assert.equal((await attach(relay, apiKey, await token())).status, 200);
    const { api_key: signInKey } = await signedIn(relay, await token());
    for (let i = 0; i < 2; i++) {
      const answer = await unlink(relay, signInKey);
      assert.deepEqual([answer.status, answer.body], [204, ""]);
    }
    const org = await readOrg(relay, apiKey);
    assert.deepEqual(
      [org.body.verified_email, org.body.google_email, org.body.trial],
      ["ada@example.org", null, false],
    );
    assert.equal((await kv.get(googleKey("1001"))).value, null);
    // The account signs in to an org of its own, which the former one cannot take back.
    const own = await signedIn(relay, await token());
    assert.notEqual(own.org_id, orgId);
    refusedWith(await attach(relay, apiKey, await token()), 409, "identity_in_use");
    // Another account may be linked, and the verified address stays.
    const other = await attach(relay, apiKey, await token({ sub: "1002", email: "b@example.org" }));
    assert.deepEqual(
      [other.status, other.body.verified_email, other.body.google_email],
      [200, "ada@example.org", "b@example.org"],
    );
  }));

Deno.test("an account of a deleted org may be attached before the sweep has come to it", () =>
  withStore(async ({ kv, relay, token }) => {
    const first = await registerOrg(relay);
    const second = await registerOrg(relay);
    assert.equal((await attach(relay, first.apiKey, await token())).status, 200);
    const { value } = await kv.get<OrgRecord>(orgKey(first.orgId));
    const deletion = { key: first.apiKey, body: { org_id: first.orgId } };
    assert.equal((await askMail(relay.url, "DELETE", "/v1/mail/org", deletion)).status, 204);
    assert.equal((await attach(relay, second.apiKey, await token())).status, 200);
    await relay.relay.crons.figures!();
    assert.equal((await signedIn(relay, await token())).org_id, second.orgId);
    assert.equal(value!.google!.sub, "1001");
  }));

Deno.test("attach and unlinking take an org-scoped key with inbox:write, before anything else", () =>
  withStore(async ({ relay, token }) => {
    const { apiKey } = await registerOrg(relay);
    const inbox = await askMail(relay.url, "POST", "/v1/mail/inboxes", { key: apiKey, body: {} });
    const weak = [
      { name: "reads", permissions: ["inbox:read"] },
      { name: "inbox", scope: "inbox", inbox_id: inbox.body.id },
    ];
    for (const body of weak) {
      const { body: { api_key: key } } = await askMail(relay.url, "POST", "/v1/mail/api-keys", {
        key: apiKey,
        body,
      });
      refusedWith(await attach(relay, key, await token()), 403, "insufficient_permission");
      refusedWith(await attach(relay, key, "bad"), 403, "insufficient_permission");
      refusedWith(await unlink(relay, key), 403, "insufficient_permission");
    }
    refusedWith(await unlink(relay, "rm_sk_x"), 401, "unknown_key");
  }));

Deno.test("a key that is deleted while the keys of Google are fetched attaches nothing", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer);
  const { apiKey } = await registerOrg(relay);
  const made = await askMail(relay.url, "POST", "/v1/mail/api-keys", {
    key: apiKey,
    body: { name: "leaked" },
  });
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  issuer.answer = async () => {
    reach();
    await released;
    issuer.answer = null;
    return await fetch(issuer.url);
  };
  const attaching = attach(relay, made.body.api_key, await issuer.token(relay.clock.now()));
  await reached;
  const path = `/v1/mail/api-keys/${made.body.id}`;
  assert.equal((await askMail(relay.url, "DELETE", path, { key: apiKey })).status, 204);
  release();
  refusedWith(await attaching, 401, "unknown_key");
  assert.equal((await readOrg(relay, apiKey)).body.google_email, null);
});

Deno.test("keys of Google that cannot be had are 500 internal at both routes, and good a little later", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer);
  const { apiKey } = await registerOrg(relay);
  issuer.answer = () => new Response("no", { status: 500 });
  const token = await issuer.token(relay.clock.now());
  for (const answer of [await signIn(relay, token), await attach(relay, apiKey, token)]) {
    refusedWith(answer, 500, "internal", /try again/);
  }
  assert.equal(issuer.asked, 1);
  const [logged] = relay.logged.filter(({ event }) => event === "request_failed");
  assert.match(String(logged!.fields.message), /answered 500/);
  issuer.answer = null;
  relay.clock.advance(5_000);
  assert.equal((await attach(relay, apiKey, token)).status, 200);
  // A new key of Google's is taken as soon as a token comes that is signed with it.
  await issuer.rotate();
  relay.clock.advance(30_000);
  await signedIn(relay, await issuer.token(relay.clock.now()));
});
