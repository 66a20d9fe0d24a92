import { openMemoryKv } from "../../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { signInServices } from "../../../../tests/support/sign_in_rig.ts";
import { openTestStorage } from "../../../../tests/support/storage.ts";
import { attachIdentity, signInByGoogle, unlinkIdentity } from "../google/identities.ts";
import { keysKey, type KeysRecord } from "../../records/key_record.ts";
import { linkKey, type LinkRecord } from "../../records/link_record.ts";
import { newOrg, orgKey, type OrgRecord } from "../../records/org_record.ts";
import { emailOrgKey } from "../../records/verified_email.ts";
import { QUEUED_TOPIC } from "../../../base/outgoing/outgoing_row.ts";
import { stageOwner } from "./change_owner.ts";
import type { SignInServices } from "./queued_link.ts";
import { followOwnerLink } from "../owner_link.ts";

const ORG_ID = "org_01KT1GW6G0WEGMHY6P9JBQ54A0";
const MAIL_ID = "01KT1GW6G0WEGMHY6P9JBQ54A1";
const OWNER = "owner@example.org";
const IDENTITY = { sub: "7", email: "new@example.org" };
const ASKED_FROM = "192.0.2.7";

async function withServices(
  test: (services: SignInServices & { queued: number }, kv: Deno.Kv) => Promise<void>,
): Promise<void> {
  using kv = await openMemoryKv();
  const storage = await openTestStorage(kv);
  const services = { ...signInServices(storage), queued: 0 };
  storage.commits.listen(QUEUED_TOPIC, () => services.queued++);
  await test(services, kv);
  await storage.close();
}

/** Attaches the identity to an org as it stands, asked for by a key. */
async function attach({ commits, store: { random } }: SignInServices, before: OrgRecord) {
  const owner = { verifiedEmail: before.verifiedEmail ?? IDENTITY.email, google: IDENTITY };
  const asked = { keyPrefix: "rm_sk_abcdef", askedFrom: ASKED_FROM };
  const change = { by: "sign_in", asked, mail: { id: MAIL_ID, random } } as const;
  return await commits.submit((transaction) => stageOwner(transaction, before, owner, change));
}

Deno.test("stageOwner() of a verified org with an address leaves a link that undoes it", () =>
  withServices(async (services, kv) => {
    const known = { verifiedEmail: OWNER, emailProof: { by: "claim", atMs: 1 } } as const;
    const after = await attach(services, newOrg(ORG_ID, 1, known));
    assert.deepEqual([after.verifiedEmail, after.google], [OWNER, IDENTITY]);
    assert.deepEqual((await kv.get(orgKey(ORG_ID))).value, after);
    assert.equal(after.restores![0]!.linkId, MAIL_ID);
    const { value: link } = await kv.get<LinkRecord>(linkKey(MAIL_ID));
    assert.ok(link?.kind === "restore");
    assert.deepEqual([link.email, link.askedFrom], [OWNER, ASKED_FROM]);
    const { org } = await followOwnerLink(services, MAIL_ID);
    assert.deepEqual([org.google, org.verifiedEmail], [null, OWNER]);
  }));

Deno.test("stageOwner() of a trial verifies it by the address, which it notes, and mails nobody", () =>
  withServices(async (services, kv) => {
    const trial = newOrg(ORG_ID, 1, { trialEndsAtMs: 5, verifiedAtMs: null });
    const after = await attach(services, trial);
    assert.equal(after.trialEndsAtMs, null);
    assert.equal(after.emailProof?.by, "sign_in");
    assert.deepEqual(after.restores ?? [], []);
    assert.deepEqual((await kv.get(emailOrgKey(IDENTITY.email, ORG_ID))).value, after.emailProof);
    assert.equal((await Array.fromAsync(kv.list({ prefix: ["mail-link"] }))).length, 0);
  }));

Deno.test("an identity changes the owner where it is attached anew, not where it signs in or comes again", () =>
  withServices(async (services, kv) => {
    const restores = async (orgId: string) =>
      (await kv.get<OrgRecord>(orgKey(orgId))).value!.restores?.length ?? 0;
    const first = { sub: "1", email: "a@example.org" };
    const { org, isNew } = await signInByGoogle(services, first);
    assert.ok(isNew);
    assert.equal(org.emailProof?.by, "sign_in");
    const again = await signInByGoogle(services, { ...first, email: "b@example.org" });
    assert.deepEqual([again.isNew, again.org.id, again.org.verifiedEmail], [
      false,
      org.id,
      first.email,
    ]);
    const { value: stored } = await kv.get<KeysRecord>(keysKey(org.id));
    const caller = { org, key: stored!.keys[0]! };
    await attachIdentity(services, caller, { ...first, email: "c@example.org" }, ASKED_FROM);
    assert.equal(await restores(org.id), 0);
    await unlinkIdentity(services, caller);
    assert.equal(services.queued, 0);
    const attached = await attachIdentity(services, caller, IDENTITY, ASKED_FROM);
    assert.deepEqual([attached.verifiedEmail, attached.google], [first.email, IDENTITY]);
    assert.equal(await restores(org.id), 1);
    assert.equal(services.queued, 1, "the mail to the former owner");
  }));
