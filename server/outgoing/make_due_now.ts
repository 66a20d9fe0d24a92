/** Puts a row of the outgoing queue back for all processes, due now. */
import { type HeldRowServices, sizeOfChange, stageChange } from "./held_row.ts";
import { outgoingKey, type OutgoingRow } from "./outgoing_row.ts";
import { dropStaleIndex } from "./stale_index.ts";

/** The greatest size of a payload of any kind. */
const PAYLOAD_BYTES = 50_000;

/** Called for each row that was put back. */
export type Freed = (row: OutgoingRow) => void;

/**
 * Ends the lease of a row that has one, and makes it due now.
 * @param indexKey by which it was found; taken away where no row is found by it any more
 * @param isWanted whether the row is as it was found, asked in the commit
 * @param whateverTheClock where no time has decided that: done while the clock cannot be relied on, too
 */
export async function makeDueNow(
  { store, records, commits }: HeldRowServices,
  indexKey: Deno.KvKey,
  isWanted: (row: OutgoingRow) => boolean,
  freed: Freed,
  whateverTheClock = false,
): Promise<void> {
  const id = indexKey.at(-1) as string;
  const key = outgoingKey(id);
  if (!store.exclusive) records.refresh(key);
  const { row } = await commits.submit<{ row: OutgoingRow | null }>({
    records: [key],
    sizeBytes: sizeOfChange(PAYLOAD_BYTES),
    whateverTheClock,
    plan(turn) {
      const before = turn.record<OutgoingRow>(key);
      if (before === null || !isWanted(before)) return { row: null };
      const { nowMs, attempt } = turn;
      const row = { ...before, lease: null, dueMs: nowMs, dueSetAtMs: nowMs, attempt };
      stageChange(turn, id, before, row);
      return { row };
    },
  });
  if (row !== null) freed(row);
  else await dropStaleIndex(store, indexKey);
}
