/** A stored record, wherever a running relay keeps it: in the journal, or in its row. */
import { journalKey, type JournalRow } from "../../server/base/storage/commits/journal.ts";
import { recordName } from "../../server/base/storage/commits/record_cache.ts";
import type { RecordKey } from "../../server/base/storage/commits/record_key.ts";

/** The newest value that was committed, and its commit; both null where there is none. */
export async function storedRecord<T>(
  kv: Deno.Kv,
  key: RecordKey<T>,
): Promise<{ value: T | null; versionstamp: string | null }> {
  const name = recordName(key);
  for await (const row of kv.list<JournalRow>({ prefix: journalKey.under() }, { reverse: true })) {
    const found = row.value.records.find(([recordKey]) => recordName(recordKey) === name);
    if (found !== undefined) return { value: found[1] as T, versionstamp: row.versionstamp };
  }
  return await kv.get<T>(key);
}
