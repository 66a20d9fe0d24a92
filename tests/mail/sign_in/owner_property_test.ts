/**
 * Whatever a holder of a leaked key, later owners and the owner do in a week: the owner gets the org
 * back, no link mailed to anybody else does anything then, and everybody who lost it was told.
 */
import assert from "node:assert/strict";
import { RelayError } from "../../../server/base/errors.ts";
import { attachIdentity, unlinkIdentity } from "../../../server/mail/sign_in/google/identities.ts";
import { addKey } from "../../../server/mail/access/put_keys.ts";
import {
  keysKey,
  type KeysRecord,
  makeKeySecret,
  OWNER_RIGHTS,
} from "../../../server/mail/records/key_record.ts";
import type { LinkRecord } from "../../../server/mail/records/link_record.ts";
import { orgKey, type OrgRecord } from "../../../server/mail/records/org_record.ts";
import { followMagicLink, sendMagicLink } from "../../../server/mail/sign_in/magic_link.ts";
import {
  followOwnerLink,
  readOwnerLink,
  sendClaimLink,
} from "../../../server/mail/sign_in/owner_link.ts";
import { deleteOtherKeys } from "../../../server/mail/sign_in/shut_out.ts";
import { propertyRuns } from "../../support/property_runs.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import fc from "../../support/seeded_fast_check.ts";
import { signInServices } from "../../support/sign_in_rig.ts";
import { openTestStorage } from "../../support/storage.ts";

const OWNER = "owner@example.org";
const OTHERS = ["thief@example.org", "thief2@example.org", "owner2@example.org"];
const ASKED_FROM = "192.0.2.1";

type Step =
  | { do: "claim" | "sign in" | "shut out"; email: string }
  | { do: "attach"; sub: string }
  | { do: "unlink" }
  | { do: "follow"; which: number }
  | { do: "wait"; minutes: number };

const email = fc.constantFrom(OWNER, ...OTHERS);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("claim" as const), email }) },
  fc.record({ do: fc.constantFrom("sign in" as const, "shut out" as const), email }),
  fc.record({ do: fc.constant("attach" as const), sub: fc.constantFrom("ada", "eve") }),
  fc.record({ do: fc.constant("unlink" as const) }),
  fc.record({ do: fc.constant("follow" as const), which: fc.nat(20) }),
  fc.record({ do: fc.constant("wait" as const), minutes: fc.integer({ min: 0, max: 360 }) }),
);
const anyReturn = fc.constantFrom("claim" as const, "sign in" as const, "follow" as const);

/** One org of OWNER in a store, and what people do with it. */
async function openWorld(kv: Deno.Kv) {
  const storage = await openTestStorage(kv);
  const services = signInServices(storage);
  const { store: { random }, records, commits, clock } = storage;
  const google = { ...services, domain: "agents.test" };
  let orgId: string | null = null;
  const links = async () =>
    (await Array.fromAsync(kv.list<LinkRecord>({ prefix: ["mail-link"] })))
      .map(({ key, value }) => ({ id: String(key[1]), link: value }));
  const newest = async (kind: LinkRecord["kind"], email: string) =>
    (await links()).filter(({ link }) => link.kind === kind && link.email === email).at(-1)!.id;
  const org = async () => (await records.read<OrgRecord>(orgKey(orgId!)))!;
  const keys = async () => (await records.read<KeysRecord>(keysKey(orgId!)))?.keys ?? [];
  const signIn = async (email: string) => {
    await sendMagicLink(services, { email, orgId, askedFrom: ASKED_FROM });
    return await followMagicLink(services, await newest("magic", email));
  };
  orgId = (await signIn(OWNER)).org.id;
  /** The leaked key: older than every change, or where it was deleted another one that leaked. */
  const leaked = async () => {
    const [first] = await keys();
    if (first !== undefined) return first;
    const secret = makeKeySecret(random);
    return await commits.submit((transaction) =>
      addKey(
        transaction,
        orgId!,
        [],
        { secret, name: "leaked", ...OWNER_RIGHTS, signIn: false },
        random,
      )
    );
  };
  const caller = async () => ({ org: await org(), key: await leaked() });
  async function take(step: Step): Promise<void> {
    if (step.do === "wait") return clock.advance(step.minutes * 60_000);
    clock.advance(1_000);
    if (step.do === "claim") {
      const asked = { email: step.email, askedFrom: ASKED_FROM };
      await sendClaimLink(services, await caller(), asked);
      await followOwnerLink(services, await newest("claim", step.email));
    } else if (step.do === "attach") {
      const identity = { sub: step.sub, email: `${step.sub}@example.com` };
      await attachIdentity(google, await caller(), identity, ASKED_FROM);
    } else if (step.do === "unlink") await unlinkIdentity(google, await caller());
    else if (step.do === "follow") {
      const mailed = (await links()).filter(({ link }) => link.kind === "restore");
      const chosen = mailed[step.which % Math.max(1, mailed.length)];
      if (chosen !== undefined) await followOwnerLink(services, chosen.id);
    } else {
      const { org: opened, key } = await signIn(step.email);
      if (step.do === "shut out" && opened.id === orgId) {
        await deleteOtherKeys(services, { org: opened, key });
      }
    }
  }
  return { services, org, links, newest, take, close: () => storage.close() };
}

Deno.test("the owner gets the org back from whatever was done in a week, and nobody else's link works", async () => {
  let [displaced, returned] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyStep, { minLength: 2, maxLength: 14 }),
      anyReturn,
      async (steps, way) => {
        using kv = await openMemoryKv();
        const world = await openWorld(kv);
        const told = async (email: string) =>
          (await world.links()).filter(({ link }) =>
            (link.kind === "restore" || link.kind === "displaced") && link.email === email
          ).length;
        /** Does something, and sees that an owner who loses the address by it is told. */
        const watched = async (step: Step) => {
          const before = (await world.org()).verifiedEmail!;
          const links = await told(before);
          try {
            await world.take(step);
          } catch (error) {
            if (!(error instanceof RelayError)) throw error;
          }
          if ((await world.org()).verifiedEmail === before) return;
          displaced++;
          const isTold = await told(before) > links;
          assert.ok(isTold, `${step.do} took the org from ${before}, and nobody told them`);
        };
        for (const step of steps) await watched(step);

        const wasTaken = (await world.org()).verifiedEmail !== OWNER;
        if (wasTaken) {
          returned++;
          if (way === "follow") {
            const living = [];
            for (const { id, link } of await world.links()) {
              if (link.kind !== "restore" || link.email !== OWNER) continue;
              const works = await readOwnerLink(world.services, id).then(() => true, () => false);
              if (works) living.push(id);
            }
            assert.ok(living.length > 0, "the owner has a link that works");
            await followOwnerLink(world.services, living[0]!);
          } else await watched({ do: way, email: OWNER });
        }
        const org = await world.org();
        assert.equal(org.verifiedEmail, OWNER);
        if (wasTaken) assert.equal(org.google, null, "no identity of a stranger stays");
        for (const { id, link } of await world.links()) {
          if (link.kind !== "restore" || link.email === OWNER) continue;
          await assert.rejects(readOwnerLink(world.services, id), { code: "link_expired" });
        }
        await world.close();
      },
    ),
    propertyRuns(80),
  );
  assert.ok(displaced > 100 && returned > 30, `${displaced} changes, ${returned} returns`);
});
