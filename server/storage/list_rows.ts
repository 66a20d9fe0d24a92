import { retryWhileLocked } from "./lock_retry.ts";

/**
 * Reads the rows of a range in key order. Starts again when another process has the database
 * locked.
 * @param take keeps a row or not; a page ends when `limit` are kept
 */
export async function listRows<T>(
  kv: Deno.Kv,
  selector: Deno.KvListSelector,
  { limit = Infinity, batchSize = 200, reverse = false, take = () => true }: {
    limit?: number;
    /** Reads the last rows first. */
    reverse?: boolean;
    /** Rows of one read of the store. */
    batchSize?: number;
    take?: (row: Deno.KvEntry<T>) => boolean;
  } = {},
): Promise<Deno.KvEntry<T>[]> {
  return await retryWhileLocked(async () => {
    const rows: Deno.KvEntry<T>[] = [];
    if (limit <= 0) return rows;
    for await (
      const row of kv.list<T>(selector, { batchSize: Math.min(limit, batchSize), reverse })
    ) {
      if (!take(row)) continue;
      rows.push(row);
      if (rows.length >= limit) break;
    }
    return rows;
  });
}
