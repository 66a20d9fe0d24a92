import assert from "node:assert/strict";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { signInServices } from "../../../tests/support/sign_in_rig.ts";
import { keysKey } from "../records/key_record.ts";
import { linkKey, type LinkRecord } from "../records/link_record.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";
import { emailOrgKey } from "../records/verified_email.ts";
import { prepareOwnerChange } from "./owner_change.ts";
import { followRestoreLink } from "./restore_link.ts";
import type { SignInServices } from "./sign_in_services.ts";

const ORG: OrgRecord = {
  v: 1,
  id: "org_01KT1GW6G0WEGMHY6P9JBQ54A0",
  agentId: 1,
  publicKey: null,
  createdAtMs: 1,
  trialEndsAtMs: null,
  verifiedAtMs: 1,
  verifiedEmail: null,
  google: null,
  pendingClaim: null,
  inboxes: 0,
  addressesTaken: [],
  suspendedAtMs: null,
  deletedAtMs: null,
  attempt: "",
};
const IDENTITY = { sub: "7", email: "new@example.org" };

/** Attaches an identity as the part of identities does, and returns the org as it then stands. */
async function attach(
  services: SignInServices,
  before: OrgRecord | null,
  after: OrgRecord,
  keyPrefix: string | null,
): Promise<OrgRecord> {
  const asked = { identity: IDENTITY, org: before, keyPrefix, askedFrom: "192.0.2.7" };
  const change = prepareOwnerChange(services, asked);
  return await services.commits.submit<OrgRecord>({
    records: [orgKey(ORG.id), keysKey(ORG.id), ...change.records],
    sizeBytes: 2_000,
    plan(turn) {
      const written = { ...change.stage(turn, before, after), attempt: turn.attempt };
      turn.putRecord(orgKey(ORG.id), written);
      return written;
    },
    committed: change.committed,
  });
}

Deno.test("prepareOwnerChange() of a verified org with an address leaves a link that undoes it", async () => {
  using kv = await Deno.openKv(":memory:");
  const storage = await openTestStorage(kv);
  const services = signInServices(storage);
  const before: OrgRecord = {
    ...ORG,
    verifiedEmail: "owner@example.org",
    emailProof: { by: "claim", atMs: 1 },
  };
  const after = await attach(services, before, { ...before, google: IDENTITY }, "rm_sk_abcdef");
  assert.equal(after.verifiedEmail, "owner@example.org");
  assert.equal(services.woken, 1);
  const [restore] = after.restores!;
  const { value: link } = await kv.get<LinkRecord>(linkKey(restore!.linkId));
  assert.equal(link!.kind, "restore");
  assert.deepEqual([link!.email, link!.askedFrom], ["owner@example.org", "192.0.2.7"]);
  const restored = await followRestoreLink(services, restore!.linkId);
  assert.deepEqual([restored.google, restored.verifiedEmail], [null, "owner@example.org"]);
  await storage.close();
});

Deno.test("prepareOwnerChange() of a trial or a new org notes the address and mails nobody", async () => {
  using kv = await Deno.openKv(":memory:");
  const storage = await openTestStorage(kv);
  const services = signInServices(storage);
  const named: OrgRecord = { ...ORG, google: IDENTITY, verifiedEmail: IDENTITY.email };
  const trial: OrgRecord = { ...ORG, trialEndsAtMs: 5, verifiedAtMs: null };
  for (const [before, keyPrefix] of [[null, null], [trial, "rm_sk_abcdef"]] as const) {
    const after = await attach(services, before, named, keyPrefix);
    assert.deepEqual(after.restores ?? [], []);
    assert.equal(after.emailProof?.by, "sign_in");
    assert.deepEqual(
      (await kv.get(emailOrgKey(IDENTITY.email, ORG.id))).value,
      after.emailProof,
    );
  }
  assert.equal((await Array.fromAsync(kv.list({ prefix: ["mail-link"] }))).length, 0);
  await storage.close();
});
