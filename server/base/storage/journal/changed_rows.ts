/**
 * Rows of a store that were changed, in memory until the store has them where they belong, and merged
 * into what is read of the store meanwhile.
 *
 * A read gives the rows of one moment: that at which the store's answer is merged. So a row that was
 * saved stays until all reads that began before have ended, since their answer may lack it.
 */
import type { MaybeRow, Row } from "../rows/backend.ts";
import { orderedName } from "./key_order.ts";
import { SortedNames } from "./sorted_names.ts";

/** Never mutated but for `unsaved`: a new change of its row replaces it. */
export interface ChangedRow {
  /** As orderedName() has it. */
  readonly name: string;
  readonly key: Deno.KvKey;
  readonly value: unknown;
  /** Null where the row was deleted. */
  readonly versionstamp: string | null;
  /** By the system's clock; undefined where it never does. */
  readonly expiresAtMs: number | undefined;
  /** What it takes in the journal. */
  readonly sizeBytes: number;
  /** The store does not have it where it belongs. */
  unsaved: boolean;
}

export class ChangedRows {
  readonly #rows = new Map<string, ChangedRow>();
  readonly #names = new SortedNames();
  #unsaved = 0;
  #unsavedBytes = 0;
  /** Reads of the store under way, in the order in which they began. */
  readonly #reads = new Set<number>();
  #lastRead = 0;
  /** What leaves once all reads up to one have ended. */
  readonly #leaving: { lastRead: number; rows: readonly ChangedRow[]; bytes: number }[] = [];
  #leavingBytes = 0;
  /** By name: the end of a commit under way that writes a row to where it belongs. */
  readonly #direct = new Map<string, Promise<unknown>>();

  /** Those that the store does not have, and their bytes in the journal. */
  get unsaved(): { rows: number; bytes: number } {
    return { rows: this.#unsaved, bytes: this.#unsavedBytes };
  }

  get(name: string): ChangedRow | undefined {
    return this.#rows.get(name);
  }

  put(row: ChangedRow): void {
    const former = this.#rows.get(row.name);
    if (former === undefined) this.#names.add(row.name);
    else if (former.unsaved) this.#count(former, -1);
    this.#rows.set(row.name, row);
    if (row.unsaved) this.#count(row, 1);
  }

  #count({ sizeBytes }: ChangedRow, sign: 1 | -1): void {
    this.#unsaved += sign;
    this.#unsavedBytes += sign * sizeBytes;
  }

  forget(name: string): void {
    const row = this.#rows.get(name);
    if (row === undefined) return;
    if (row.unsaved) this.#count(row, -1);
    this.#rows.delete(name);
    this.#names.delete(name);
  }

  /** All that are unsaved, in the order of their keys: neighbours share a page of the store. */
  inOrder(): ChangedRow[] {
    const rows: ChangedRow[] = [];
    for (const name of this.#names.between("", AFTER_ALL)) {
      const row = this.#rows.get(name)!;
      if (row.unsaved) rows.push(row);
    }
    return rows;
  }

  /** The store has these: they leave, unless they were changed meanwhile, once nobody reads what was before. */
  saved(rows: readonly ChangedRow[]): void {
    for (const row of rows) {
      if (!row.unsaved || this.#rows.get(row.name) !== row) continue;
      row.unsaved = false;
      this.#count(row, -1);
    }
    const bytes = rows.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.#leaving.push({ lastRead: this.#lastRead, rows, bytes });
    this.#leavingBytes += bytes;
    if (this.#leavingBytes > LEAVING_BYTES) this.#reads.clear(); // they read again
    this.#leave();
  }

  #leave(): void {
    const [oldest = Infinity] = this.#reads;
    while (this.#leaving.length > 0 && this.#leaving[0]!.lastRead < oldest) {
      const { rows, bytes } = this.#leaving.shift()!;
      this.#leavingBytes -= bytes;
      for (const row of rows) {
        if (this.#rows.get(row.name) === row) this.forget(row.name);
      }
    }
  }

  /**
   * A commit is under way that writes rows to where they belong: the store may give them before memory has
   * what else the commit has changed.
   * @param ended resolves when memory has all of it, or nothing was stored
   */
  async writes(names: readonly string[], ended: Promise<unknown>): Promise<void> {
    for (const name of names) this.#direct.set(name, ended);
    await ended;
    for (const name of names) if (this.#direct.get(name) === ended) this.#direct.delete(name);
  }

  /**
   * Reads the store.
   * @param read may be called again
   * @param concerns whether a row is among those that it reads
   * @param merge called with its answer: what was changed by then comes first
   */
  async read<Read, Result>(
    read: () => Promise<Read>,
    concerns: (name: string) => boolean,
    merge: (found: Read) => Result,
  ): Promise<Result> {
    for (;;) {
      const number = ++this.#lastRead;
      this.#reads.add(number);
      try {
        const found = await read();
        for (const [name, ended] of [...this.#direct]) if (concerns(name)) await ended;
        if (this.#reads.has(number)) return merge(found);
      } finally {
        this.#reads.delete(number);
        if (this.#leaving.length > 0) this.#leave();
      }
    }
  }

  /** How many rows of a range may be the store's and are deleted, before there are enough without them. */
  deletedBefore(
    { from, to }: { from: string; to: string },
    limit: number,
    reverse: boolean,
  ): number {
    let deleted = 0;
    let kept = 0;
    for (const name of this.#names.between(from, to, reverse)) {
      if (this.#rows.get(name)!.versionstamp !== null) kept++;
      else deleted++;
      if (kept >= limit || deleted >= MOST_DELETED) break;
    }
    return deleted;
  }

  /**
   * Rows of a range of names as they are now.
   * @param found the first ones of the store, at most `most`
   * @returns null where more of the store's have to be known
   */
  merge<T>(
    found: Row<T>[],
    { from, to }: { from: string; to: string },
    { most, limit, reverse }: { most: number; limit: number; reverse: boolean },
  ): Row<T>[] | null {
    const names = this.#names.between(from, to, reverse);
    let next = names.next();
    if (next.done) return found.length > limit ? found.slice(0, limit) : found;
    const merged: Row<T>[] = [];
    const take = () => {
      const row = asRow<T>(this.#rows.get(next.value as string)!);
      if (row.versionstamp !== null) merged.push(row);
      next = names.next();
    };
    const isBefore = (name: string) =>
      !next.done && (reverse ? next.value > name : next.value < name);
    for (const row of found) {
      const name = orderedName(row.key);
      while (merged.length < limit && isBefore(name)) take();
      if (merged.length >= limit) return merged;
      if (!next.done && next.value === name) take();
      else merged.push(row);
    }
    if (found.length >= most) return merged.length >= limit ? merged.slice(0, limit) : null;
    while (merged.length < limit && !next.done) take();
    return merged.slice(0, limit);
  }
}

/** Kept for reads under way, at most: one that the store does not answer would keep all that is saved. */
const LEAVING_BYTES = 32 * 1024 * 1024;
/** A read that lacks more than these is made again, larger. */
const MOST_DELETED = 1_000;
/** No name comes behind it. */
const AFTER_ALL = "\xff";

export function asRow<T>({ key, value, versionstamp }: ChangedRow): MaybeRow<T> {
  return versionstamp === null
    ? { key, value: null, versionstamp: null }
    : { key, value: value as T, versionstamp };
}
