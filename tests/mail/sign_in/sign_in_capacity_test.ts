/** The largest commits of the ways in fit what one commit over KV Connect may check. */
import assert from "node:assert/strict";
import {
  attachIdentity,
  signInByGoogle,
  unlinkIdentity,
} from "../../../server/mail/sign_in/google/identities.ts";
import { keysKey, type KeysRecord } from "../../../server/mail/records/key_record.ts";
import type { LinkRecord } from "../../../server/mail/records/link_record.ts";
import { orgKey, type OrgRecord } from "../../../server/mail/records/org_record.ts";
import { followMagicLink, sendMagicLink } from "../../../server/mail/sign_in/magic_link.ts";
import { followOwnerLink, sendClaimLink } from "../../../server/mail/sign_in/owner_link.ts";
import { deleteOtherKeys } from "../../../server/mail/sign_in/shut_out.ts";
import { KV_CONNECT_CAPACITY } from "../../../server/base/storage/rows/store.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { signInServices } from "../../support/sign_in_rig.ts";
import { openTestStorage } from "../../support/storage.ts";

const OWNER = "owner@example.org";
const THIEF = "thief@example.org";
const ASKED_FROM = "192.0.2.1";
const ADA = { sub: "ada", email: "ada@example.org" };
const EVE = { sub: "eve", email: "eve@example.org" };

async function openShared(kv: Deno.Kv) {
  const storage = await openTestStorage(kv, { exclusive: false, capacity: KV_CONNECT_CAPACITY });
  const services = signInServices(storage);
  const { records, clock } = storage;
  const google = { ...services, domain: "agents.test" };
  /** The newest link of a kind to an address. */
  const linkTo = async (kind: LinkRecord["kind"], email: string) => {
    const rows = await Array.fromAsync(kv.list<LinkRecord>({ prefix: ["mail-link"] }));
    const found = rows.filter(({ value }) => value.kind === kind && value.email === email);
    return String(found.at(-1)!.key[1]);
  };
  const signIn = async () => {
    clock.advance(1_000);
    await sendMagicLink(services, { email: OWNER, orgId: null, askedFrom: ASKED_FROM });
    return await followMagicLink(services, await linkTo("magic", OWNER));
  };
  /** The oldest key of an org, as it calls. */
  const caller = async (orgId: string) => {
    clock.advance(1_000);
    const [key] = (await records.read<KeysRecord>(keysKey(orgId)))!.keys;
    return { org: (await records.read<OrgRecord>(orgKey(orgId)))!, key: key! };
  };
  return { ...storage, services, google, linkTo, signIn, caller };
}

Deno.test("a sign-in over KV Connect makes room among ten keys, with rows of former keys to erase", async () => {
  using kv = await openMemoryKv();
  const world = await openShared(kv);
  for (let i = 0; i < 11; i++) await world.signIn();
  const { org, key } = await world.signIn();
  assert.equal((await deleteOtherKeys(world.services, { org, key })).deleted, 9);
  const orgId = org.id;
  for (let i = 0; i < 14; i++) await world.signIn();
  const { keys } = (await world.records.read<KeysRecord>(keysKey(orgId)))!;
  assert.equal(keys.length, 10);
  const rows = await Array.fromAsync(kv.list({ prefix: ["mail-key"] }));
  assert.equal(rows.length, 10);
  await world.close();
});

Deno.test("taking an org back over KV Connect moves two identities, one of them another org's by now", async () => {
  using kv = await openMemoryKv();
  const world = await openShared(kv);
  const { services, google, linkTo, caller } = world;
  const { org: { id } } = await world.signIn();
  await attachIdentity(google, await caller(id), ADA, ASKED_FROM);
  const asked = { email: THIEF, askedFrom: ASKED_FROM };
  await sendClaimLink(services, await caller(id), asked);
  await followOwnerLink(services, await linkTo("claim", THIEF));
  const restore = await linkTo("restore", OWNER);
  await unlinkIdentity(google, await caller(id));
  const other = await signInByGoogle(google, ADA);
  assert.notEqual(other.org.id, id);
  await attachIdentity(google, await caller(id), EVE, ASKED_FROM);
  const { org: restored } = await followOwnerLink(services, restore);
  assert.deepEqual([restored.verifiedEmail, restored.google], [OWNER, null]);
  await linkTo("displaced", THIEF);
  assert.equal((await signInByGoogle(google, ADA)).org.id, other.org.id);
  assert.notEqual((await signInByGoogle(google, EVE)).org.id, id);
  await world.close();
});
