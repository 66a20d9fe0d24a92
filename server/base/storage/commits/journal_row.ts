/** A row of the journal: its key, what it holds, and what that takes. */
import type { Store } from "../rows/store.ts";
import { keySizeBytes, valueSizeBytes } from "../rows/stored_size.ts";
import { defineRow } from "../rows/row_key.ts";

/** ["journal", number] */
export interface JournalRow {
  v: 1;
  /** The attempt that wrote the row; null in a row that only uses a number up. */
  attempt: string | null;
  records: readonly JournalRecord[];
}

export type JournalRecord = readonly [key: Deno.KvKey, value: unknown];

export const journalKey = defineRow<[number: number]>(["journal"], 1, {
  holds: "on exclusive stores: that a commit was stored, and the deferred records that it " +
    "changed",
  expires: "until they are in their own rows: some seconds",
});

/** Deno KV refuses values of more than 65,536 bytes, what encloses them included. */
export const JOURNAL_ROW_BYTES = 65_000;

/** Upper bound of what a record takes in a row of the journal. */
export function journalSizeBytes(key: Deno.KvKey, value: unknown): number {
  return keySizeBytes(key) + valueSizeBytes(value) + 32;
}

/** Uses a number up, so that a commit with it is stored by now or never: see `Journal.settle`. */
export async function settleNumber(
  store: Pick<Store, "commit" | "get">,
  number: number,
  attempt: string,
): Promise<string | null> {
  const key = journalKey(number);
  const used: JournalRow = { v: 1, attempt: null, records: [] };
  try {
    const isFree = { key, versionstamp: null };
    if (await store.commit([isFree], [{ kind: "set", key, value: used }]) !== null) return null;
  } catch { // a disk that is full takes no row: then the row that is missing is answer enough
  }
  return await storedUnder(store, number, attempt);
}

/** The versionstamp of the row that an attempt has written under a number, or null. */
export async function storedUnder(
  store: Pick<Store, "get">,
  number: number,
  attempt: string,
): Promise<string | null> {
  const row = await store.get<JournalRow>(journalKey(number));
  return row.value?.attempt === attempt ? row.versionstamp : null;
}
