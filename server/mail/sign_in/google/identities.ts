/** Signing in by a Google identity, linking one to an org, and unlinking it (specification, 3 and 4.7). */
import { RelayError } from "../../../base/errors.ts";
import { type MailCaller, refuseSuspended } from "../../access/authenticate_key.ts";
import { requireCaller } from "../../access/require_org.ts";
import { readKeyUses, stageSignInKey } from "../../keys/sign_in_key.ts";
import { changeToUndo } from "../../records/former_owners.ts";
import { googleKey, holderOf } from "../../records/google_record.ts";
import { makeKeySecret } from "../../records/key_record.ts";
import { makeMailId, makeUlid } from "../../records/mail_id.ts";
import { newOrg, orgKey, type OrgRecord } from "../../records/org_record.ts";
import { stageOwner, stageTakeBack } from "../owners/change_owner.ts";
import type { SignInServices } from "../owners/queued_link.ts";
import type { GoogleIdentity } from "./read_id_token.ts";

export interface SignedIn {
  org: OrgRecord;
  /** Shown once. */
  apiKey: string;
  /** Whether the org was made now. */
  isNew: boolean;
}

/**
 * Signs in to the org of an identity, and makes a verified one where it has none: of several
 * requests at the same time the first makes it. An org is found by `sub` alone, never by the e-mail address.
 * @throws RelayError `org_suspended`; `invalid_google_token` where a new org's e-mail address would be an inbox here
 */
export async function signInByGoogle(
  services: SignInServices,
  { sub, email }: GoogleIdentity,
): Promise<SignedIn> {
  const { commits, store: { now, random }, limits, domain } = services;
  const google = { sub, email };
  const newId = makeMailId("org", now(), random);
  const mail = { id: makeUlid(now(), random), random };
  const secret = makeKeySecret(random);
  return await commits.submit({
    async prepare(reads) {
      const bound = await reads.get(googleKey(sub));
      return await readKeyUses(services, bound?.orgId ?? null);
    },
    plan(transaction, uses): SignedIn {
      const held = holderOf(transaction, sub, limits);
      let org: OrgRecord;
      if (held !== null) {
        refuseSuspended(held);
        org = { ...held, google };
        transaction.putRecord(orgKey(org.id), org);
      } else {
        requireForeignEmail(email, domain);
        const owner = { verifiedEmail: email, google };
        const change = { by: "sign_in", asked: null, mail } as const;
        org = stageOwner(transaction, newOrg(newId, transaction.nowMs), owner, change);
        transaction.putRecord(googleKey(sub), { v: 1, orgId: newId });
      }
      stageSignInKey(transaction, org.id, { secret, way: "google", uses }, random);
      return { org, apiKey: secret.apiKey, isNew: held === null };
    },
  });
}

/**
 * Links an identity to the caller's org, which is verified by it: also a trial that has expired and is
 * not yet purged. The org keeps a verified e-mail address that it has. Linking it again changes nothing.
 * A former owner's undoes the change that took the org from them.
 * @param askedFrom address of the client, as limits count it
 * @throws RelayError `identity_in_use`; `invalid_google_token` where the org's e-mail address would be
 * an inbox here; as requireCaller(), but for `trial_expired`
 */
export async function attachIdentity(
  services: SignInServices,
  caller: MailCaller,
  { sub, email }: GoogleIdentity,
  askedFrom: string,
): Promise<OrgRecord> {
  const { commits, store: { now, random }, limits, domain } = services;
  const google = { sub, email };
  const mail = { id: makeUlid(now(), random), random };
  const asked = { keyPrefix: caller.key.prefix, askedFrom };
  const org = await commits.submit((transaction) => {
    const before = requireCaller(transaction, caller, limits, { expiredTrial: true });
    if (before.google !== null && before.google.sub !== sub) {
      throw inUse(
        "the org is linked to another Google identity; unlink it first (DELETE /v1/mail/org/google)",
      );
    }
    const holder = holderOf(transaction, sub, limits);
    if (holder !== null && holder.id !== before.id) {
      throw inUse(
        "this Google identity is linked to another org; sign in there (POST /v1/mail/org/google) and unlink it first",
      );
    }
    if (before.verifiedEmail === null) requireForeignEmail(email, domain);
    const undone = changeToUndo(before, { sub }, transaction.nowMs);
    const owner = { verifiedEmail: before.verifiedEmail ?? email, google };
    const after = undone === null
      ? stageOwner(transaction, before, owner, { by: "sign_in", asked, mail })
      : { ...stageTakeBack(transaction, before, undone, mail, limits), google };
    transaction.putRecord(orgKey(after.id), after);
    transaction.putRecord(googleKey(sub), { v: 1, orgId: after.id });
    return after;
  });
  return org;
}

/**
 * Unlinks the identity of the caller's org, which is free from then on. Repeating it changes nothing.
 * @throws RelayError `last_identity`, and as requireCaller()
 */
export async function unlinkIdentity(
  { commits, limits }: Pick<SignInServices, "commits" | "limits">,
  caller: MailCaller,
): Promise<OrgRecord> {
  return await commits.submit((transaction) => {
    const org = requireCaller(transaction, caller, limits);
    if (org.verifiedEmail === null) throw lastIdentity();
    const next: OrgRecord = { ...org, google: null };
    transaction.putRecord(orgKey(org.id), next);
    const bound = org.google && googleKey(org.google.sub);
    if (bound !== null && transaction.record(bound)?.orgId === org.id) {
      transaction.putRecord(bound, null);
    }
    return next;
  });
}

/**
 * Refuses an address at the relay's own domain as the verified one of an org: its agents could read
 * and approve there what is meant for a person.
 * @throws RelayError `invalid_google_token`
 */
function requireForeignEmail(email: string, domain: string): void {
  if (email.slice(email.lastIndexOf("@") + 1) !== domain) return;
  throw new RelayError(
    "invalid_google_token",
    `the id_token's e-mail address is at ${domain}, the domain of this relay's own inboxes; sign in with an account that has an address elsewhere`,
  );
}

function inUse(message: string): RelayError {
  return new RelayError("identity_in_use", message);
}

function lastIdentity(): RelayError {
  return new RelayError(
    "last_identity",
    "the org has no verified e-mail address, and without the identity nobody could sign in to it; claim it first (POST /v1/mail/org/claim)",
  );
}
