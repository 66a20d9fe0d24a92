import { type RecordCache, recordName } from "./record_cache.ts";
import type { RecordKey } from "./record_key.ts";
import type { Store } from "./store.ts";

/**
 * What RecordCache.read() would give without a read of the store; undefined where it would read,
 * as it always does on a shared store, and where memory knows that there is no record.
 */
export function recordInMemory<T extends object>(
  store: Pick<Store, "exclusive">,
  records: Pick<RecordCache, "peek">,
  key: RecordKey<T>,
): T | undefined {
  if (!store.exclusive) return undefined;
  return (records.peek(recordName(key))?.value as T | null | undefined) ?? undefined;
}
