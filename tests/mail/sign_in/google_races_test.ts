/** Google sign-in, attach, unlinking and erasure at the same time, on stores that several relays share. */
import assert from "node:assert/strict";
import { googleKey } from "../../../server/mail/records/google_record.ts";
import { keysKey, type KeysRecord } from "../../../server/mail/records/key_record.ts";
import { startGoogleIssuer } from "../../support/google_issuer.ts";
import { askMail, registerOrg, signRegistration } from "../../support/mail_relay.ts";
import type { TestRelay } from "../../support/relay.ts";
import { startRelayProcesses } from "../../support/relay_processes.ts";
import { attach, signedIn, signIn, unlink } from "./google_calls.ts";
import { orgsIn, withGoogleRelays } from "./google_relays.ts";

const FAULTS = { deniedSuccess: 0.2, lostAnswer: 0.1, locked: 0.1, repeated: 0.1 };

for (const [store, faults] of Object.entries({ "a store": undefined, "a bad store": FAULTS })) {
  Deno.test(`sign-ins of one account at one time at two relays on ${store} make one org`, () =>
    withGoogleRelays({ faults }, async ({ kv, relays, token }) => {
      for (let round = 0; round < 5; round++) {
        const idToken = await token({ sub: `200${round}` });
        const bodies = await Promise.all(
          Array.from({ length: 6 }, (_, i) => signedIn(relays[i % 2]!, idToken)),
        );
        assert.equal(new Set(bodies.map(({ org_id }) => org_id)).size, 1);
        assert.equal(new Set(bodies.map(({ api_key }) => api_key)).size, 6);
        for (const { api_key: key } of bodies) {
          const { status } = await askMail(relays[0]!.url, "GET", "/v1/mail/org", { key });
          assert.equal(status, 200, "each has a key that opens the org");
        }
        const { value } = await kv.get<KeysRecord>(keysKey(bodies[0]!.org_id));
        assert.equal(value!.keys.length, 6, "a repeated commit made no key twice");
      }
      assert.equal((await orgsIn(kv)).length, 5);
    }));
}

Deno.test("twenty sign-ins at one time leave ten keys, and later ones erase the rows of the others", () =>
  withGoogleRelays({}, async ({ kv, relays, token }) => {
    const idToken = await token();
    const bodies = await Promise.all(
      Array.from({ length: 20 }, (_, i) => signedIn(relays[i % 2]!, idToken)),
    );
    const stored = async () => (await kv.get<KeysRecord>(keysKey(bodies[0]!.org_id))).value!;
    const rows = async () =>
      (await Array.fromAsync(kv.list({ prefix: ["mail-key"] }))).map(({ key }) => key[1]);
    const { keys, dropped = [] } = await stored();
    assert.equal(keys.length, 10);
    const named = [...keys.map(({ hash }) => hash), ...dropped];
    assert.deepEqual((await rows()).toSorted(), named.toSorted());
    for (let i = 0; i < 4; i++) await signedIn(relays[0]!, idToken);
    const last = await stored();
    assert.deepEqual([last.keys.length, last.dropped], [10, []]);
    assert.deepEqual((await rows()).toSorted(), last.keys.map(({ hash }) => hash).toSorted());
  }));

Deno.test("one account attached to two orgs at one time is one's; the other is 409", () =>
  withGoogleRelays({ faults: FAULTS }, async ({ kv, relays, token }) => {
    for (let round = 0; round < 5; round++) {
      const sub = `300${round}`;
      const orgs = await Promise.all(relays.map((relay) => registerOrg(relay)));
      const idToken = await token({ sub });
      const answers = await Promise.all(
        relays.map((relay, i) => attach(relay, orgs[i]!.apiKey, idToken)),
      );
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
      const winner = orgs[answers.findIndex(({ status }) => status === 200)]!;
      const { value } = await kv.get<{ orgId: string }>(googleKey(sub));
      assert.equal(value!.orgId, winner.orgId);
      const holders = (await orgsIn(kv)).filter(({ google }) => google?.sub === sub);
      assert.deepEqual(holders.map(({ id }) => id), [winner.orgId]);
    }
  }));

Deno.test("sign-in, attach, unlinking and deletion at one time leave an account with one org at most", () =>
  withGoogleRelays({ faults: FAULTS }, async ({ kv, relays, token }) => {
    const [one, two] = relays as [TestRelay, TestRelay];
    for (let round = 0; round < 6; round++) {
      const sub = `400${round}`;
      const idToken = await token({ sub });
      const { apiKey: key, orgId } = await registerOrg(one);
      assert.equal((await attach(one, key, idToken)).status, 200);
      const ends = round % 2 === 0
        ? unlink(two, key)
        : askMail(two.url, "DELETE", "/v1/mail/org", { key, body: { org_id: orgId } });
      const answers = await Promise.all([
        signIn(one, idToken),
        ends,
        signIn(two, idToken),
        attach(one, key, idToken),
      ]);
      const told = JSON.stringify(answers.map(({ status, body }) => [status, body.error?.code]));
      assert.ok(answers.every(({ status }) => [200, 204, 401, 409].includes(status)), told);
      const holders = (await orgsIn(kv)).filter(({ google }) => google?.sub === sub);
      assert.ok(holders.length <= 1, told);
      const { value } = await kv.get<{ orgId: string }>(googleKey(sub));
      if (holders.length === 1) assert.equal(value?.orgId, holders[0]!.id, told);
      const again = await signedIn(two, idToken);
      if (holders.length === 1) assert.equal(again.org_id, holders[0]!.id, told);
    }
  }));

Deno.test("two processes on one file make one org of an account, with the permissions of the task", async () => {
  await using issuer = await startGoogleIssuer();
  await using processes = await startRelayProcesses(2, {
    env: { RELAY_MAIL_DEV: "true", ...issuer.env },
  });
  const [one, two] = processes.relays;
  assert.match(one!.output().stdout, /^ {2}google +on: keys of 127\.0\.0\.1:\d+$/m);
  const nowMs = Date.now();
  const idToken = await issuer.token(nowMs);
  const bodies = await Promise.all(
    Array.from({ length: 8 }, (_, i) => signedIn(i % 2 === 0 ? one! : two!, idToken)),
  );
  assert.equal(new Set(bodies.map(({ org_id }) => org_id)).size, 1);
  for (const { api_key: key } of bodies) {
    for (const { url } of [one!, two!]) {
      assert.equal((await askMail(url, "GET", "/v1/mail/org", { key })).status, 200);
    }
  }
  // A trial that one process attaches is verified at the other.
  const trial = await askMail(one!.url, "POST", "/v1/mail/agents/register", {
    body: signRegistration(nowMs),
  });
  const key = trial.body.api_key;
  const token = await issuer.token(nowMs, { sub: "1002" });
  assert.equal((await attach(one!, key, token)).status, 200);
  const org = await askMail(two!.url, "GET", "/v1/mail/org", { key });
  assert.deepEqual([org.body.trial, org.body.google_email], [false, "ada@example.org"]);
  assert.equal((await signedIn(two!, token)).org_id, org.body.org_id);
  assert.equal(issuer.asked, 2, "each process has asked once");
  for (const relay of [one!, two!]) assert.equal((await relay.terminate()).code, 0);
  assert.doesNotMatch(one!.output().stderr + two!.output().stderr, /ada@|eyJ|rm_sk_/);
});
