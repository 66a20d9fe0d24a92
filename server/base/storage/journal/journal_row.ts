/** Rows of the journal: what they hold, and how a commit's writes are cut into them. */
import type { ChangedRow } from "./changed_rows.ts";
import type { Write } from "../rows/backend.ts";
import { defineRow } from "../rows/row_key.ts";
import { ENCLOSING_BYTES, keySizeBytes, valueSizeBytes } from "../rows/stored_size.ts";

/** ["journal", number] */
export interface JournalRow {
  v: 2;
  /** The process that wrote it; null in a row that only uses a number up. */
  by: string | null;
  /** In the order in which they were made. */
  changes: readonly Change[];
}

/** Rows of layout 3 held mailbox records alone. */
export interface FormerJournalRow {
  v: 1;
  attempt: string | null;
  records: readonly (readonly [key: Deno.KvKey, value: unknown])[];
}

/** How a change came to the store: with its row of the journal alone, or to its own row as well. */
export const SET = 0;
export const DELETED = 1;
/** The store has it: what rows before say of this key is outdated. */
export const THROUGH = 2;

export type Change =
  | readonly [kind: typeof SET, key: Deno.KvKey, value: unknown, expiresAtMs?: number]
  | readonly [kind: typeof DELETED, key: Deno.KvKey, value?: undefined, expiresAtMs?: undefined]
  | readonly [kind: typeof THROUGH, key: Deno.KvKey];

export const journalKey = defineRow<[number: number]>(["journal"], 1, {
  holds: "on exclusive stores: what a commit has changed, whatever rows it is of",
  expires: "until they are in their own rows: some seconds",
});

/** Deno KV refuses values of more than 65,536 bytes, what encloses them included. */
const ROW_BYTES = 65_000;

/** Upper bound of what a write takes in the journal. */
export function journalSizeBytes(write: Write): number {
  const valueBytes = write.kind === "set" ? write.sizeBytes ?? valueSizeBytes(write.value) : 0;
  return keySizeBytes(write.key) + valueBytes + ENCLOSING_BYTES;
}

/** Deno KV refuses longer keys, and ends of life that are further. */
const KEY_BYTES = 2_048;
const LONGEST_LIFE_MS = 1e15;

/**
 * Whether the journal can hold a write, and the store will take it from there: what it refuses has to be
 * refused when it is committed.
 * @param name as orderedName() has it
 * @param sizeBytes as journalSizeBytes() has it
 */
export function fitsJournal(write: Write, name: string, sizeBytes: number): boolean {
  if (write.kind === "sum" || sizeBytes > ROW_BYTES) return false;
  if (name.length === 0 || name.length > KEY_BYTES) return false;
  if (write.kind === "delete") return true;
  const { value, expireInMs = 0 } = write;
  return !(value instanceof Deno.KvU64) && Number.isInteger(expireInMs) && expireInMs >= 0 &&
    expireInMs <= LONGEST_LIFE_MS;
}

/**
 * Changes in as few rows as hold them, one at least.
 * @param sizes of each change, as journalSizeBytes() has them; none above a row's
 */
export function cutIntoRows(changes: readonly Change[], sizes: readonly number[]): Change[][] {
  const rows: Change[][] = [[]];
  let sizeBytes = 0;
  for (const [i, change] of changes.entries()) {
    if (sizeBytes + sizes[i]! > ROW_BYTES) {
      rows.push([]);
      sizeBytes = 0;
    }
    rows.at(-1)!.push(change);
    sizeBytes += sizes[i]!;
  }
  return rows;
}

/** What writes a changed row to where it belongs; one whose time has passed is not written any more. */
export function savedAs(
  { key, value, versionstamp, expiresAtMs }: Pick<
    ChangedRow,
    "key" | "value" | "versionstamp" | "expiresAtMs"
  >,
  nowMs: number,
): Write {
  const isGone = versionstamp === null || expiresAtMs !== undefined && expiresAtMs <= nowMs;
  if (isGone) return { kind: "delete", key };
  if (expiresAtMs === undefined) return { kind: "set", key, value };
  return { kind: "set", key, value, expireInMs: expiresAtMs - nowMs };
}

/** What a row says, of whatever layout. */
export function changesOf(row: JournalRow | FormerJournalRow): readonly Change[] {
  return row.v === 2 ? row.changes : row.records.map(([key, value]): Change => [SET, key, value]);
}
