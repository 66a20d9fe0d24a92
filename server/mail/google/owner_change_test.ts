import assert from "node:assert/strict";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { DEFAULT_LIMITS } from "../../limits.ts";
import { defineRecord } from "../../storage/record_key.ts";
import { LastUsed } from "../keys/last_used.ts";
import { keysKey, type KeysRecord } from "../records/key_record.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";
import { attachIdentity } from "./attach_identity.ts";
import type { GoogleServices } from "./google_services.ts";
import type { OwnerChangeAsked } from "../owner_change.ts";
import { signInByGoogle } from "./sign_in_by_google.ts";
import { unlinkIdentity } from "./unlink_identity.ts";

const markKey = defineRecord<{ v: 1 }, [email: string]>(["owner-change-test"], 1);
const ADDRESS = "192.0.2.1";

/** The commits over a store, with a change of owner that writes a row and a field, and is told of. */
async function withServices(
  test: (rig: {
    services: GoogleServices;
    told: { asked: OwnerChangeAsked; before: OrgRecord | null; after: OrgRecord }[];
    kv: Deno.Kv;
  }) => Promise<void>,
): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const { store, records, commits, clock, close } = await openTestStorage(kv);
  const told: { asked: OwnerChangeAsked; before: OrgRecord | null; after: OrgRecord }[] = [];
  const services: GoogleServices = {
    commits,
    records,
    lastUsed: new LastUsed(store),
    random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    now: clock.now,
    limits: DEFAULT_LIMITS,
    domain: "agents.test",
    prepareOwnerChange: (asked) => ({
      records: [markKey(asked.identity.email)],
      stage(turn, before, after) {
        told.push({ asked, before, after });
        turn.putRecord(markKey(asked.identity.email), { v: 1 });
        return {
          ...after,
          pendingClaim: { email: "changed@example.org", expiresAtMs: 1, linkId: "" },
        };
      },
      committed() {},
    }),
  };
  try {
    await test({ services, told, kv });
    await close();
  } finally {
    kv.close();
  }
}

Deno.test("a change of owner is told of with a new org, once, and writes in its commit", () =>
  withServices(async ({ services, told, kv }) => {
    const identity = { sub: "1", email: "a@example.org" };
    const { org } = await signInByGoogle(services, identity, ADDRESS);
    assert.equal(told.length, 1);
    assert.deepEqual(told[0]!.asked, {
      identity,
      org: null,
      keyPrefix: null,
      askedFrom: ADDRESS,
    });
    assert.equal(told[0]!.before, null);
    const { value } = await kv.get<OrgRecord>(orgKey(org.id));
    assert.equal(value!.pendingClaim!.email, "changed@example.org");
    assert.deepEqual(value, org);
    assert.deepEqual((await kv.get(markKey("a@example.org"))).value, { v: 1 });
    await signInByGoogle(services, { ...identity, email: "b@example.org" }, ADDRESS);
    assert.equal(told.length, 1, "a sign-in changes no owner");
  }));

Deno.test("a change of owner is told of where attach links another account, with how the org stood before", () =>
  withServices(async ({ services, told, kv }) => {
    const first = { sub: "1", email: "a@example.org" };
    const { org } = await signInByGoogle(services, first, ADDRESS);
    const { value: stored } = await kv.get<KeysRecord>(keysKey(org.id));
    const [key] = stored!.keys;
    const caller = { org, key: key! };
    await attachIdentity(services, caller, { ...first, email: "c@example.org" }, ADDRESS);
    assert.equal(told.length, 1, "the same account again changes no owner");
    const unlinked = await unlinkIdentity(services, caller);
    const second = { sub: "2", email: "b@example.org" };
    const attached = await attachIdentity(services, caller, second, ADDRESS);
    assert.equal(told.length, 2);
    const { asked, before, after } = told[1]!;
    assert.deepEqual(asked, {
      identity: second,
      org: unlinked,
      keyPrefix: key!.prefix,
      askedFrom: ADDRESS,
    });
    assert.deepEqual(before, unlinked);
    assert.deepEqual(
      [before!.verifiedEmail, after.verifiedEmail, after.google?.sub],
      ["a@example.org", "a@example.org", "2"],
    );
    assert.equal(attached.pendingClaim?.email, "changed@example.org");
  }));
