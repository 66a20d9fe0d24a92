/** The commit after which an org is gone, for whoever deletes or purges it. */
import type { Turn } from "../../storage/job.ts";
import { keysKey } from "../records/key_record.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";

/** ["mail-erasure", orgId]: stands while something is left of an org that is gone. */
export interface ErasureRow {
  v: 1;
  sinceMs: number;
  /** Hashes of the keys that it had, of which the sweep has yet to erase the rows. */
  keyHashes: readonly string[];
}
export const erasureKey = (orgId: string): Deno.KvKey => ["mail-erasure", orgId];

/** Hides an org and kills its keys, in a job that has the records of both; a sweep erases the rest. */
export function stageErasure(turn: Turn, org: OrgRecord): OrgRecord {
  const gone: OrgRecord = { ...org, deletedAtMs: turn.nowMs, attempt: turn.attempt };
  const { keys = [], dropped = [] } = turn.record(keysKey(org.id)) ?? {};
  const keyHashes = [...keys.map(({ hash }) => hash), ...dropped];
  turn.putRecord(orgKey(org.id), gone);
  turn.putRecord(keysKey(org.id), null);
  turn.set(
    erasureKey(org.id),
    { v: 1, sinceMs: turn.nowMs, keyHashes } satisfies ErasureRow,
  );
  return gone;
}
