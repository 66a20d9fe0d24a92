/** Puts a row of the outgoing queue back for all processes, due now. */
import { type HeldRowServices, stageChange } from "./held_row.ts";
import { isFoundBy, outgoingKey, type OutgoingRow } from "./outgoing_row.ts";

/** Called for each row that was put back. */
export type Freed = (row: OutgoingRow) => void;

/**
 * Ends the lease of a row that has one, and makes it due now.
 * @param indexKey the key that led to it; deleted where it leads to no row any more
 * @param isWanted whether the row is as it was found, asked in the commit
 * @param whateverTheClock where no time has decided that: done while the clock cannot be relied on, too
 */
export async function makeDueNow(
  { commits }: HeldRowServices,
  indexKey: Deno.KvKey,
  isWanted: (row: OutgoingRow) => boolean,
  freed: Freed,
  whateverTheClock = false,
): Promise<void> {
  const id = indexKey.at(-1) as string;
  const row = await commits.submit<OutgoingRow | null, OutgoingRow | null>({
    whateverTheClock,
    prepare: (reads) => reads.get(outgoingKey(id)),
    plan(transaction, before) {
      if (before === null || !isWanted(before)) {
        if (before === null || !isFoundBy(id, before, indexKey)) transaction.delete(indexKey);
        return null;
      }
      const { nowMs } = transaction;
      const row = { ...before, lease: null, dueMs: nowMs, dueSetAtMs: nowMs };
      stageChange(transaction, id, before, row);
      return row;
    },
  });
  if (row !== null) freed(row);
}
