/** After a sign-in its holder may shut out everybody else (docs/mail.md). */
import { hashToken } from "../../base/http/callers/hashed_token.ts";
import {
  findCaller,
  type MailCaller,
  refuseSuspended,
  unknownKey,
} from "../access/authenticate_key.ts";
import { putKeys } from "../access/put_keys.ts";
import { requireCaller } from "../access/require_org.ts";
import { restoresOfOwner } from "../records/former_owners.ts";
import { isKeyForm, isOwnerKey, keysKey } from "../records/key_record.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";
import type { SignInServices } from "./owners/queued_link.ts";

/**
 * The holder of a key that a sign-in made, who presses what its page offers.
 * @throws RelayError `unknown_key` for a key that is none, or came otherwise; `org_suspended`
 */
export async function signInCaller(
  services: Pick<SignInServices, "records" | "store" | "limits">,
  apiKey: string,
): Promise<MailCaller> {
  const caller = isKeyForm(apiKey) ? await findCaller(services, hashToken(apiKey)) : null;
  const isOfSignIn = caller !== null && caller.key.signIn &&
    isOwnerKey(caller.key, services.store.now());
  if (!isOfSignIn) throw unknownKey();
  refuseSuspended(caller.org);
  return caller;
}

export interface ShutOut {
  /** How many keys went. */
  deleted: number;
  /** The org as it then stands. Its Google identity still signs in. */
  org: OrgRecord;
}

/**
 * Deletes every key of an org but the caller's, and ends the ways back of former owners: see
 * restoresOfOwner().
 * @param caller as signInCaller() gives it
 * @throws RelayError as requireCaller()
 */
export async function deleteOtherKeys(
  { commits, limits }: Pick<SignInServices, "commits" | "limits">,
  caller: MailCaller,
): Promise<ShutOut> {
  const { org: { id: orgId }, key: { id: keyId } } = caller;
  return await commits.submit((transaction) => {
    const stored = requireCaller(transaction, caller, limits);
    const { keys } = transaction.record(keysKey(orgId))!;
    const own = keys.filter(({ id }) => id === keyId);
    putKeys(transaction, orgId, own);
    const org: OrgRecord = { ...stored, restores: restoresOfOwner(stored, transaction.nowMs) };
    transaction.putRecord(orgKey(orgId), org);
    return { deleted: keys.length - own.length, org };
  });
}
