/** How the list of an org's keys is written: what goes with the keys that leave it goes too. */
import type { Turn } from "../../storage/job.ts";
import { keyOwnerKey, keysKey, type KeysRecord, type MailKey } from "../records/key_record.ts";
import { usedKey } from "./last_used.ts";

/** Each is a record to check, and a commit over KV Connect checks ten. */
export const SWEPT_A_COMMIT = 4;

/** Hashes of former keys whose rows the next commit on an org's keys is to erase. */
export function sweptHashes(stored: KeysRecord | null): readonly string[] {
  return stored?.dropped?.slice(0, SWEPT_A_COMMIT) ?? [];
}

/**
 * Replaces the list of an org's keys. The rows of keys that leave it name nobody from then on: what
 * holds is the list. They are erased now where they are among the job's records, else later.
 * @param swept hashes of former keys of which the job has the record
 */
export function putKeys(
  turn: Turn,
  orgId: string,
  keys: readonly MailKey[],
  swept: readonly string[] = [],
): void {
  const before = turn.record(keysKey(orgId));
  const kept = new Set(keys.map(({ hash }) => hash));
  const gone = (before?.keys ?? []).filter(({ hash }) => !kept.has(hash));
  const erased = swept.filter((hash) => !kept.has(hash));
  for (const { id } of gone) turn.delete(usedKey(orgId, id));
  for (const hash of erased) turn.putRecord(keyOwnerKey(hash), null);
  const dropped = [...before?.dropped ?? [], ...gone.map(({ hash }) => hash)]
    .filter((hash) => !erased.includes(hash));
  turn.putRecord(keysKey(orgId), { v: 1, attempt: turn.attempt, keys, dropped });
}
