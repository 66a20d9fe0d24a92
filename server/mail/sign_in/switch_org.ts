/** From one org of an address to another, without another link (docs/mail.md, "The mailbox"). */
import { refuseSuspended } from "../access/authenticate_key.ts";
import { unknownObject } from "../access/unknown_object.ts";
import { readKeyUses, stageSignInKey } from "../keys/sign_in_key.ts";
import { keysKey, makeKeySecret } from "../records/key_record.ts";
import { orgKey } from "../records/org_record.ts";
import { carries, findCarryingOrgs, signedInAtMs } from "../records/verified_email.ts";
import type { SignInServices } from "./owners/queued_link.ts";

/**
 * The orgs that somebody who has proved an address may open by it: those that were signed in to by it before. One that
 * was only claimed for it is opened by a link, whose page asks.
 */
export async function orgsOfAddress(
  { records, store, limits }: Pick<SignInServices, "records" | "store" | "limits">,
  email: string,
): Promise<string[]> {
  const { signedIn } = await findCarryingOrgs(
    { records, store, limits, nowMs: store.now() },
    email,
  );
  return signedIn.map(({ id }) => id);
}

/**
 * Signs in to another org of an address that was proved by a link.
 * @returns the key that the sign-in made
 * @throws RelayError `not_found` for an org that is none of orgsOfAddress(); `org_suspended`
 */
export async function switchOrg(
  services: SignInServices,
  email: string,
  orgId: string,
): Promise<string> {
  const { commits, store: { random }, limits } = services;
  const secret = makeKeySecret(random);
  await commits.submit({
    prepare: () => readKeyUses(services, orgId),
    plan(transaction, uses) {
      const org = transaction.record(orgKey(orgId));
      const keys = transaction.record(keysKey(orgId))?.keys ?? [];
      const isTheirs = org !== null && carries(org, email, transaction.nowMs, limits) &&
        signedInAtMs(org, keys) !== null;
      if (!isTheirs) throw unknownObject("org");
      refuseSuspended(org);
      stageSignInKey(transaction, orgId, { secret, way: "magic", uses }, random);
    },
  });
  return secret.apiKey;
}
