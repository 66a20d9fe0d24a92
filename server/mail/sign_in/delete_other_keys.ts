/** After a sign-in its holder may shut out everybody else (mail page, "Orgs and the ways in"). */
import type { MailCaller } from "../keys/authenticate_key.ts";
import { putKeys } from "../keys/put_keys.ts";
import { callerRecords, requireCaller } from "../keys/require_org.ts";
import { restoresOfOwner } from "../records/former_owners.ts";
import { keysKey } from "../records/key_record.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";
import type { SignInServices } from "./sign_in_services.ts";

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
  { commits, limits, lastUsed }: SignInServices,
  caller: MailCaller,
): Promise<ShutOut> {
  const { org: { id: orgId }, key: { id: keyId } } = caller;
  const { org, gone } = await commits.submit<{ org: OrgRecord; gone: readonly string[] }>({
    records: callerRecords(caller),
    sizeBytes: 2_000,
    plan(turn) {
      const stored = requireCaller(turn, caller, limits);
      const keys = turn.record(keysKey(orgId))!.keys;
      putKeys(turn, orgId, keys.filter(({ id }) => id === keyId));
      const restores = restoresOfOwner(stored, turn.nowMs);
      const org: OrgRecord = { ...stored, restores, attempt: turn.attempt };
      turn.putRecord(orgKey(orgId), org);
      return { org, gone: keys.map(({ id }) => id).filter((id) => id !== keyId) };
    },
  });
  for (const id of gone) lastUsed.forget(id);
  return { deleted: gone.length, org };
}
