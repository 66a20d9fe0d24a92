/** After a sign-in its holder may shut out everybody else (mail page, "Orgs and the ways in"). */
import { hashToken } from "../../http/hashed_token.ts";
import { unknownKey } from "../keys/authenticate_key.ts";
import { putKeys } from "../keys/put_keys.ts";
import { requireOrg } from "../keys/require_org.ts";
import {
  isKeyForm,
  isOwnerKey,
  keyOwnerKey,
  type KeyOwnerRecord,
  keysKey,
} from "../records/key_record.ts";
import { orgKey } from "../records/org_record.ts";
import type { SignInServices } from "./sign_in_services.ts";

/**
 * Deletes every key of an org but the one given, which a sign-in has made.
 * @returns how many went
 * @throws RelayError `unknown_key` for a key that is none, or came otherwise
 */
export async function deleteOtherKeys(
  { records, commits, limits, lastUsed }: SignInServices,
  apiKey: string,
): Promise<number> {
  const hash = hashToken(apiKey);
  const owner = isKeyForm(apiKey) ? await records.read<KeyOwnerRecord>(keyOwnerKey(hash)) : null;
  if (owner === null) throw unknownKey();
  const { orgId } = owner;
  const deleted = await commits.submit<readonly string[]>({
    records: [orgKey(orgId), keysKey(orgId)],
    sizeBytes: 2_000,
    proof: keysKey(orgId),
    plan(turn) {
      requireOrg(turn, orgId, limits);
      const keys = turn.record(keysKey(orgId))?.keys ?? [];
      const own = keys.find((key) => key.hash === hash);
      if (own === undefined || !own.signIn || !isOwnerKey(own, turn.nowMs)) throw unknownKey();
      putKeys(turn, orgId, [own]);
      return keys.filter((key) => key !== own).map(({ id }) => id);
    },
  });
  for (const keyId of deleted) lastUsed.forget(keyId);
  return deleted.length;
}
