/**
 * How many bytes an owner has in the blob store: every blob counts from the commit that keeps it until
 * its bytes are gone. The outermost folder of a blob names its owner.
 */
import type { Transaction } from "../storage/commits/job.ts";
import { defineRecord } from "../storage/commits/record_key.ts";
import { DAY_MS } from "../time/time_units.ts";

export interface StorageRecord {
  v: 1;
  bytes: number;
  /** How often unowned bytes were about to be swept; absent for never. */
  sweeps?: number;
}

const storageRecord = defineRecord<StorageRecord, [owner: string, what: "bytes"]>(
  ["mail-storage"],
  2,
  {
    holds: "bytes that an org has in the blob store until they are swept, and in stored " +
      "answers; how often bytes of nobody's were swept",
  },
);

/** ["mail-storage", owner, "bytes"] */
export const storageKey = (owner: string) => storageRecord(owner, "bytes");

/** Counts bytes in or out. */
export function countStorage(transaction: Transaction, owner: string, bytes: number): void {
  const key = storageKey(owner);
  const before = transaction.record(key);
  transaction.putRecord(key, { ...before, v: 1, bytes: Math.max(0, (before?.bytes ?? 0) + bytes) });
}

export const sweepsIn = (record: StorageRecord | null): number => record?.sweeps ?? 0;

/** For an owner with no bytes, who may be gone: no commit is under way for this long. */
const SWEPT_NOBODY_MS = 30 * DAY_MS;

/**
 * In a commit before unowned bytes are removed: from then on no commit keeps what was written before,
 * whatever the clocks of its process say. Each that keeps bytes checks that record.
 */
export function countSweep(transaction: Transaction, owner: string): void {
  const key = storageKey(owner);
  const before = transaction.record(key);
  const next: StorageRecord = { ...before ?? { v: 1, bytes: 0 }, sweeps: sweepsIn(before) + 1 };
  transaction.putRecord(key, next, next.bytes === 0 ? SWEPT_NOBODY_MS : undefined);
}

/** As countStorage(), for bytes that go: of an owner that has gone there is nothing to count. */
export function countOut(transaction: Transaction, owner: string, bytes: number): void {
  const before = transaction.record(storageKey(owner));
  // Written again, the record that countSweep() leaves of who has gone would stay for good.
  if (before === null || (before.bytes === 0 && bytes >= 0)) return;
  countStorage(transaction, owner, -bytes);
}

/** Owners whose bytes one commit counts: records are checked, and one over KV Connect checks ten. */
const OWNERS_A_COMMIT = 6;

/** The first rows, as many as one commit can count out for their owners. */
export function ofFirstOwners<Row>(
  rows: readonly Row[],
  ownerOf: (row: Row) => string,
): readonly Row[] {
  const owners = new Set<string>();
  const end = rows.findIndex((row) => owners.add(ownerOf(row)).size > OWNERS_A_COMMIT);
  return end < 0 ? rows : rows.slice(0, end);
}
