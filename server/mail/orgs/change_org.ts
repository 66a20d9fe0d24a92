/** Commits that change an org as a whole: its deletion, and what its operator decides. */
import { RelayError } from "../../errors.ts";
import type { Limits } from "../../limits.ts";
import type { GroupCommit } from "../../storage/group_commit.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import { callerRecords, type CallingKey, requireCaller } from "../keys/require_org.ts";
import { isMailId } from "../records/mail_id.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import { stageErasure } from "./stage_erasure.ts";

export interface OrgChanges {
  commits: GroupCommit;
  limits: Limits;
}

/**
 * Deletes an org: one commit hides it and kills its keys, and a sweep erases what is left of it.
 * Deleting it again does nothing, and gives null.
 * @throws RelayError as requireCaller()
 */
export async function deleteOrg(
  { commits, limits }: OrgChanges,
  caller: CallingKey,
): Promise<OrgRecord | null> {
  const key = orgKey(caller.org.id);
  return await commits.submit<OrgRecord | null>({
    records: callerRecords(caller),
    sizeBytes: 1_000,
    plan(turn) {
      const org = turn.record(key);
      if (org === null || org.deletedAtMs !== null) return null;
      return stageErasure(turn, requireCaller(turn, caller, limits));
    },
  });
}

/**
 * Suspends an org or lifts the suspension; repeating either changes nothing.
 * @throws RelayError `not_found` for an org that is none, or none any more
 */
export async function setSuspended(
  { commits, limits }: OrgChanges,
  orgId: string,
  suspended: boolean,
): Promise<OrgRecord> {
  const key = orgKey(orgId);
  return await commits.submit<OrgRecord>({
    records: [key],
    sizeBytes: 1_000,
    plan(turn) {
      const org = turn.record(key);
      if (org === null || orgState(org, turn.nowMs, limits) === "gone") throw unknownOrg();
      if ((org.suspendedAtMs !== null) === suspended) return org;
      const suspendedAtMs = suspended ? turn.nowMs : null;
      const changed: OrgRecord = { ...org, suspendedAtMs, attempt: turn.attempt };
      turn.putRecord(key, changed);
      return changed;
    },
  });
}

/** @throws RelayError `not_found` for an org that is none, or none any more */
export async function requireStanding(
  { records, limits, now }: { records: RecordCache; limits: Limits; now: () => number },
  orgId: string,
): Promise<void> {
  const org = isMailId("org", orgId) ? await records.read<OrgRecord>(orgKey(orgId)) : null;
  if (org === null || orgState(org, now(), limits) === "gone") throw unknownOrg();
}

function unknownOrg(): RelayError {
  return new RelayError("not_found", "no mail org has this id");
}
