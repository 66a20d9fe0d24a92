/** One commit of Google sign-in, and what another relay commits at that moment. */
import assert from "node:assert/strict";
import { googleKey } from "../../../server/mail/records/google_record.ts";
import { keysKey, type KeysRecord } from "../../../server/mail/records/key_record.ts";
import type { CommitOutcome, FakeCommit } from "../../support/fake_kv.ts";
import { registerOrg } from "../../support/mail_relay.ts";
import type { TestRelay } from "../../support/relay.ts";
import { attach, signedIn, unlink } from "./google_calls.ts";
import { type GoogleRelays, orgsIn, withGoogleRelays } from "./google_relays.ts";

type Intercept = (run: () => Promise<CommitOutcome>) => Promise<CommitOutcome>;

/** Two relays, and what becomes of the next commit that changes an org of an account. */
async function withNextCommit(
  test: (
    rig: GoogleRelays & { one: TestRelay; two: TestRelay; next(then: Intercept): void },
  ) => Promise<void>,
): Promise<void> {
  let pending: Intercept | null = null;
  const intercept = (commit: FakeCommit, run: () => Promise<CommitOutcome>) => {
    const then = commit.checks.some(({ key }) => key[0] === "mail-google") ? pending : null;
    if (then === null) return run();
    pending = null;
    return then(run);
  };
  await withGoogleRelays({ intercept }, async (rig) => {
    const [one, two] = rig.relays as [TestRelay, TestRelay];
    await test({ ...rig, one, two, next: (then) => void (pending = then) });
    assert.equal(pending, null, "the commit was met");
  });
}

Deno.test("a sign-in whose account is unlinked meanwhile gets an org of its own", () =>
  withNextCommit(async ({ kv, one, two, token, next }) => {
    const idToken = await token();
    const first = await signedIn(one, idToken);
    next(async (run) => {
      assert.equal((await unlink(two, first.api_key)).status, 204);
      return await run();
    });
    const second = await signedIn(one, idToken);
    assert.notEqual(second.org_id, first.org_id);
    const holders = (await orgsIn(kv)).filter(({ google }) => google !== null);
    assert.deepEqual(holders.map(({ id }) => id), [second.org_id]);
    assert.equal((await kv.get<{ orgId: string }>(googleKey("1001"))).value!.orgId, second.org_id);
  }));

Deno.test("an attach whose account signs in elsewhere meanwhile is 409, and changes nothing", () =>
  withNextCommit(async ({ kv, one, two, token, next }) => {
    const idToken = await token();
    const { apiKey, orgId } = await registerOrg(one);
    let elsewhere = "";
    next(async (run) => {
      elsewhere = (await signedIn(two, idToken)).org_id;
      return await run();
    });
    const answer = await attach(one, apiKey, idToken);
    assert.deepEqual([answer.status, answer.body.error?.code], [409, "identity_in_use"]);
    const orgs = await orgsIn(kv);
    assert.equal(orgs.find(({ id }) => id === orgId)!.google, null);
    assert.equal((await signedIn(one, idToken)).org_id, elsewhere);
  }));

Deno.test("a first sign-in whose account is attached meanwhile opens that org", () =>
  withNextCommit(async ({ kv, one, two, token, next }) => {
    const idToken = await token();
    const { apiKey, orgId } = await registerOrg(one);
    next(async (run) => {
      assert.equal((await attach(two, apiKey, idToken)).status, 200);
      return await run();
    });
    assert.equal((await signedIn(one, idToken)).org_id, orgId);
    assert.equal((await orgsIn(kv)).length, 1);
  }));

Deno.test("a sign-in whose commit is stored, reported as failed and followed by another makes one key", () =>
  withNextCommit(async ({ kv, one, two, token, next }) => {
    const idToken = await token();
    const first = await signedIn(one, idToken);
    next(async (run) => {
      await run();
      await signedIn(two, idToken);
      throw new Error("the network was lost");
    });
    await signedIn(one, idToken);
    const { value } = await kv.get<KeysRecord>(keysKey(first.org_id));
    assert.equal(value!.keys.length, 3);
  }));
