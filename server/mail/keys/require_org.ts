/** What every commit of the mail area checks first. */
import { RelayError } from "../../errors.ts";
import type { Limits } from "../../limits.ts";
import type { Turn } from "../../storage/job.ts";
import { keysKey } from "../records/key_record.ts";
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

/**
 * Requires that the key which a request came with is still one of the org: bodies may be slow, and
 * who was shut out meanwhile must not get in again.
 * @throws RelayError `unknown_key`
 */
export function requireCallingKey(turn: Turn, orgId: string, keyId: string): void {
  const keys = turn.record(keysKey(orgId))?.keys ?? [];
  if (!keys.some(({ id }) => id === keyId)) throw unknownKey();
}

/** Refuses every way into an org that its operator has suspended. @throws RelayError `org_suspended` */
export function refuseSuspended({ suspendedAtMs }: Pick<OrgRecord, "suspendedAtMs">): void {
  if (suspendedAtMs === null) return;
  throw new RelayError(
    "org_suspended",
    "the operator of this relay has suspended the org: nobody signs in to it; ask the operator",
  );
}
