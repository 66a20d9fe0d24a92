/** How the list of an org's keys is written: what goes with the keys that leave it goes too. */
import type { Transaction } from "../../base/storage/commits/job.ts";
import { keyOwnerKey, keysKey, type MailKey, type NewKeySecret } from "../records/key_record.ts";
import { makeMailId } from "../records/mail_id.ts";
import { usedKey } from "./last_used.ts";

/** How many rows of former keys a commit erases: each is a record to check, of ten over KV Connect. */
export const SWEPT_A_COMMIT = 4;

/**
 * Replaces the list of an org's keys. The rows of keys that leave it mean nothing from then on: the
 * list decides. They are erased by the commits that have room for it.
 * @param swept how many rows of former keys this commit erases
 */
export function putKeys(
  transaction: Transaction,
  orgId: string,
  keys: readonly MailKey[],
  swept = 0,
): void {
  const { keys: before = [], dropped = [] } = transaction.record(keysKey(orgId)) ?? {};
  const kept = new Set(keys.map(({ hash }) => hash));
  const gone = before.filter(({ hash }) => !kept.has(hash));
  for (const { id } of gone) transaction.delete(usedKey(orgId, id));
  const hashes = [...gone.map(({ hash }) => hash), ...dropped];
  for (const hash of hashes.slice(0, swept)) transaction.putRecord(keyOwnerKey(hash), null);
  transaction.putRecord(keysKey(orgId), { v: 1, keys, dropped: hashes.slice(swept) });
}

/** Adds a key to the ones that an org keeps, and returns it. */
export function addKey(
  transaction: Transaction,
  orgId: string,
  kept: readonly MailKey[],
  { secret: { hash, prefix }, ...asked }:
    & Omit<MailKey, "id" | "hash" | "prefix" | "createdAtMs">
    & { secret: NewKeySecret },
  random: (sizeBytes: number) => Uint8Array,
): MailKey {
  const { nowMs: createdAtMs } = transaction;
  const id = makeMailId("key", createdAtMs, random);
  const made: MailKey = { id, hash, prefix, createdAtMs, ...asked };
  putKeys(transaction, orgId, [...kept, made], SWEPT_A_COMMIT);
  transaction.putRecord(keyOwnerKey(hash), { v: 1, orgId });
  return made;
}
