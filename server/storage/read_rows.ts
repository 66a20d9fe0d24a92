import { READ_KEYS } from "./backend.ts";
import type { MaybeRow, Rows } from "./rows.ts";

/**
 * The rows of keys in their order, one read of the store at a time, so that a caller can stop between
 * them. A value is null where there is no row.
 */
export async function* readRows<T>(
  store: Pick<Rows, "getMany">,
  keys: readonly Deno.KvKey[],
): AsyncGenerator<MaybeRow<T>[]> {
  for (let from = 0; from < keys.length; from += READ_KEYS) {
    yield await store.getMany<T[]>(keys.slice(from, from + READ_KEYS));
  }
}
