/** What a shared store does with the journal of an exclusive one, before anything else reads it. */
import type { Backend, Row, Write } from "../rows/backend.ts";
import type { StoreCapacity } from "../rows/store.ts";
import { keySizeBytes } from "../rows/stored_size.ts";
import { orderedName } from "./key_order.ts";
import {
  changesOf,
  type FormerJournalRow,
  journalKey,
  type JournalRow,
  journalSizeBytes,
  savedAs,
  SET,
  THROUGH,
} from "./journal_row.ts";

type Listed = Row<JournalRow | FormerJournalRow>;

/**
 * Writes what the journal of a former, exclusive process holds to where it belongs, and ends it. Several
 * processes may do so at the same time.
 * @param nowMs by the system's clock
 * @returns how many rows it had
 */
export async function endJournal(
  store: Pick<Backend, "list" | "commit">,
  capacity: StoreCapacity,
  nowMs: number,
): Promise<number> {
  let ended = 0;
  const outdated = await outdatedBy(store);
  for (;;) {
    const listed: Listed[] = await store.list(
      { prefix: journalKey.under() },
      Math.min(capacity.checks, ROWS_A_READ),
      false,
    );
    if (listed.length === 0) return ended;
    const { rows, writes } = firstCommit(listed, outdated, capacity, nowMs);
    const deletions = rows.map(({ key }): Write => ({ kind: "delete", key }));
    // Another process that was faster leaves no row that could be checked.
    if (await store.commit(rows, [...writes, ...deletions]) !== null) ended += rows.length;
  }
}

/** Of up to 64 KiB. */
const ROWS_A_READ = 100;

/** By name: the last number that says of a key that what rows before it say is outdated. */
async function outdatedBy(store: Pick<Backend, "list">): Promise<Map<string, number>> {
  const numbers = new Map<string, number>();
  for (let start = journalKey(0);;) {
    const rows: Listed[] = await store.list(
      { prefix: journalKey.under(), start },
      ROWS_A_READ,
      false,
    );
    for (const { key, value } of rows) {
      for (const change of changesOf(value)) {
        if (change[0] === THROUGH) numbers.set(orderedName(change[1]), key[1] as number);
      }
    }
    if (rows.length < ROWS_A_READ) return numbers;
    start = journalKey(rows.at(-1)!.key[1] as number + 1);
  }
}

/** As many of the first rows as fit one commit, and the last change of each key in them. */
function firstCommit(
  listed: readonly Listed[],
  outdated: ReadonlyMap<string, number>,
  capacity: StoreCapacity,
  nowMs: number,
): { rows: Listed[]; writes: Iterable<Write> } {
  const rows: Listed[] = [];
  const writes = new Map<string, Write>();
  let mutations = 0;
  let bytes = 0;
  let keyBytes = 0;
  for (const row of listed) {
    const changes = changesOf(row.value);
    mutations += changes.length + 1;
    keyBytes += 2 * keySizeBytes(row.key);
    for (const [, key, value] of changes) {
      bytes += journalSizeBytes({ kind: "set", key, value });
      keyBytes += keySizeBytes(key);
    }
    const fits = mutations <= capacity.mutations && bytes <= capacity.bytes &&
      keyBytes <= capacity.keyBytes;
    if (rows.length > 0 && !fits) break;
    rows.push(row);
    for (const change of changes) {
      const name = orderedName(change[1]);
      if (change[0] === THROUGH) writes.delete(name);
      else if ((outdated.get(name) ?? -1) <= (row.key[1] as number)) {
        const [kind, key, value, expiresAtMs] = change;
        const versionstamp = kind === SET ? "" : null;
        writes.set(name, savedAs({ key, value, versionstamp, expiresAtMs }, nowMs));
      }
    }
  }
  return { rows, writes: writes.values() };
}
