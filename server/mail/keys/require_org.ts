/** What every commit of the mail area checks first. */
import type { Limits } from "../../limits.ts";
import type { Turn } from "../../storage/job.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import { unknownKey } from "./authenticate_key.ts";

/**
 * The org that a job writes for, named among the job's records: nothing is written for one that is
 * gone, so that its erasure misses nothing.
 * @throws RelayError `unknown_key`: with the org the caller's key has gone
 */
export function requireOrg(
  turn: Turn,
  orgId: string,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): OrgRecord {
  const org = turn.record(orgKey(orgId));
  if (org === null || orgState(org, turn.nowMs, limits) === "gone") throw unknownKey();
  return org;
}
