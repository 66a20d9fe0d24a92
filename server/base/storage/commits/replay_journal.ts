/** The start of a store with a journal: what a former process has left in it goes to its rows. */
import { journalKey, type JournalRecord, type JournalRow, journalSizeBytes } from "./journal.ts";
import type { Write } from "../rows/backend.ts";
import type { Row } from "../rows/rows.ts";
import { recordName } from "./record_cache.ts";
import { keySizeBytes } from "../rows/stored_size.ts";
import type { Store, StoreCapacity } from "../rows/store.ts";

/** Of up to 64 KiB. */
const ROWS_A_READ = 100;

/**
 * Writes to their rows what a journal holds, and ends it: before anything else reads the store.
 * Several processes of a shared store may do so at the same time.
 * @returns how many rows the journal had
 */
export async function replayJournal(store: Store): Promise<number> {
  const { capacity } = store;
  let replayed = 0;
  let listed: Row<JournalRow>[] = [];
  for (;;) {
    if (listed.length === 0) {
      listed = await store.list({ prefix: journalKey.under() }, { limit: ROWS_A_READ });
    }
    const { rows, records } = firstCommit(listed, capacity);
    if (rows.length === 0) return replayed;
    // Another process that has replayed them leaves no row that we could check.
    const ok = await store.commit(rows, [
      ...[...records.values()].map(([key, value]): Write => ({ kind: "set", key, value })),
      ...rows.map(({ key }): Write => ({ kind: "delete", key })),
    ]) !== null;
    if (ok) replayed += rows.length;
    listed = ok ? listed.slice(rows.length) : [];
  }
}

/** As many of the first rows as fit one commit, and the last of each record in them. */
function firstCommit(
  listed: readonly Row<JournalRow>[],
  capacity: StoreCapacity,
): { rows: Row<JournalRow>[]; records: Map<string, JournalRecord> } {
  const rows: Row<JournalRow>[] = [];
  const records = new Map<string, JournalRecord>();
  let bytes = 0;
  let keyBytes = 0;
  for (const row of listed) {
    keyBytes += 2 * keySizeBytes(row.key);
    for (const [key, value] of row.value.records) {
      bytes += journalSizeBytes(key, value);
      keyBytes += keySizeBytes(key);
    }
    const mutations = records.size + row.value.records.length + rows.length + 1;
    const fits = bytes <= capacity.bytes && keyBytes <= capacity.keyBytes &&
      mutations <= capacity.mutations;
    if (rows.length > 0 && (!fits || rows.length === capacity.checks)) break;
    rows.push(row);
    for (const record of row.value.records) records.set(recordName(record[0]), record);
  }
  return { rows, records };
}
