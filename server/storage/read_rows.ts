import { retryWhileLocked } from "./lock_retry.ts";

/** Rows of one read: KV Connect gives no more. */
export const ROWS_A_READ = 10;

/**
 * The rows of keys in their order, one read of the store at a time, begun anew while another
 * process has the database locked. A value is null where there is no row.
 */
export async function* readRows<T>(
  kv: Deno.Kv,
  keys: readonly Deno.KvKey[],
): AsyncGenerator<Deno.KvEntryMaybe<T>[]> {
  for (let from = 0; from < keys.length; from += ROWS_A_READ) {
    const some = keys.slice(from, from + ROWS_A_READ);
    yield await retryWhileLocked(() => kv.getMany<T[]>(some));
  }
}
