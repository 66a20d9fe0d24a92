/** Who has just signed in, and presses what the page of it offers. */
import { hashToken } from "../../http/hashed_token.ts";
import { type MailCaller, refuseSuspended, unknownKey } from "../keys/authenticate_key.ts";
import {
  isKeyForm,
  isOwnerKey,
  keyOwnerKey,
  type KeyOwnerRecord,
  keysKey,
  type KeysRecord,
} from "../records/key_record.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import type { SignInServices } from "./sign_in_services.ts";

/**
 * The holder of a key that a sign-in made.
 * @throws RelayError `unknown_key` for a key that is none, or came otherwise; `org_suspended`
 */
export async function signInCaller(
  { records, store, limits }: Pick<SignInServices, "records" | "store" | "limits">,
  apiKey: string,
): Promise<MailCaller> {
  const hash = hashToken(apiKey);
  const owner = isKeyForm(apiKey) ? await records.read<KeyOwnerRecord>(keyOwnerKey(hash)) : null;
  if (owner === null) throw unknownKey();
  const org = await records.read<OrgRecord>(orgKey(owner.orgId));
  const keys = (await records.read<KeysRecord>(keysKey(owner.orgId)))?.keys ?? [];
  const key = keys.find((one) => one.hash === hash);
  const nowMs = store.now();
  const isStanding = org !== null && orgState(org, nowMs, limits) !== "gone";
  if (!isStanding || key === undefined || !key.signIn || !isOwnerKey(key, nowMs)) {
    throw unknownKey();
  }
  refuseSuspended(org);
  return { org, key };
}
