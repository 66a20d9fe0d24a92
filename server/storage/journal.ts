/**
 * The journal of an exclusive store. Nearly every commit writes the two records of its mailboxes, each
 * on a page of its own. Instead, a commit puts all *deferred* records that it changes into one row
 * under an ascending number. Their own rows are written later, many in one commit, and then the rows
 * of the journal go (docs/adr/0042).
 *
 * What keeps it correct:
 * - A row of the journal holds whole records, not changes. Of two rows that hold one record the later
 *   number holds the later record, since an uncommitted group locks its records. Replaying is thus
 *   harmless, however often it is done.
 * - A record whose own row is behind stays in memory, so that nobody reads that row.
 * - A start replays before anything else reads the store; a shared one too.
 * - A commit requires its number unused. An unclear one is settled by using the number up: either it
 *   was stored by then, or it never will be. Its records stay locked until that is known.
 */
import { retryWhileLocked } from "./lock_retry.ts";
import type { RecordEntry } from "./record_cache.ts";
import { keySizeBytes, valueSizeBytes } from "./stored_size.ts";
import type { Store } from "./store.ts";

/** ["journal", number] */
export interface JournalRow {
  v: 1;
  /** Of the commit that wrote the row; none in a row that only uses a number up. */
  attempt: string | null;
  records: readonly JournalRecord[];
}

export type JournalRecord = readonly [key: Deno.KvKey, value: unknown];

export const JOURNAL_PREFIX: Deno.KvKey = ["journal"];
const journalKey = (number: number): Deno.KvKey => ["journal", number];

/** Deno KV refuses values of more than 65,536 bytes, what encloses them included. */
export const JOURNAL_ROW_BYTES = 65_000;

/** Upper bound of what a record takes in a row of the journal. */
export function journalSizeBytes(key: Deno.KvKey, value: unknown): number {
  return keySizeBytes(key) + valueSizeBytes(value) + 32;
}

export interface JournalBounds {
  /** Rows of the journal, and records behind, at which records are written to their rows. */
  rows: number;
  records: number;
  /** How long a record may be behind, in ms, if neither comes before. */
  afterMs: number;
  /** Records of one commit. */
  batch: number;
}

/** Measured: a start replays as much as these allow in about a second. */
export const JOURNAL_BOUNDS: JournalBounds = {
  rows: 2_048,
  records: 30_000,
  afterMs: 10_000,
  batch: 256,
};

/** No group is formed while the journal is this many times as long as it should be. */
const FULL = 3;
/** How often a failed step is tried again. */
const RETRY_MS = 250;
const DELETIONS = 500;

export interface JournalOptions {
  store: Store;
  bounds?: JournalBounds;
  /** Told of each failure of the store. */
  onFailure?: (error: unknown) => void;
}

export class Journal {
  readonly #store: Store;
  readonly #bounds: JournalBounds;
  readonly #onFailure: (error: unknown) => void;
  /** The next number; the first of those that may still have a row. */
  #next = 1;
  #first = 1;
  /** Numbers of commits that have not ended. */
  readonly #open = new Set<number>();
  readonly #unsaved = new Set<RecordEntry>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saving: Promise<void> | null = null;
  readonly #settling = new Set<Promise<unknown>>();
  #waiting: (() => void)[] = [];
  #closed = false;

  constructor({ store, bounds = JOURNAL_BOUNDS, onFailure = () => {} }: JournalOptions) {
    this.#store = store;
    this.#bounds = bounds;
    this.#onFailure = onFailure;
  }

  /** Rows that may stand in the store, and records whose own rows are behind. */
  get size(): { rows: number; records: number } {
    return { rows: this.#next - this.#first, records: this.#unsaved.size };
  }

  /**
   * Whether commits must wait until records have been written to their rows; never once the journal
   * is closed, after which nothing makes room.
   */
  get isFull(): boolean {
    if (this.#closed) return false;
    const { rows, records } = this.size;
    return rows >= FULL * this.#bounds.rows || records >= FULL * this.#bounds.records;
  }

  /** Resolves when the journal is not full any more. */
  async room(): Promise<void> {
    while (this.isFull) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        this.#save();
      });
      // A commit that has not ended keeps its row, and those of later ones.
      if (this.isFull) await pause(RETRY_MS);
    }
  }

  /** A number for one commit, which it keeps however often it is tried on a locked database. */
  begin(): number {
    this.#open.add(this.#next);
    return this.#next++;
  }

  /** Adds the row of a commit to its atomic operation. */
  writeTo(
    operation: Deno.AtomicOperation,
    number: number,
    attempt: string,
    records: readonly JournalRecord[],
  ): void {
    const key = journalKey(number);
    const row: JournalRow = { v: 1, attempt, records };
    operation.check({ key, versionstamp: null }).set(key, row);
  }

  /** A commit was stored: memory holds the records that its row has. */
  stored(number: number, entries: Iterable<RecordEntry>): void {
    this.#open.delete(number);
    for (const entry of entries) {
      entry.unsaved = true;
      this.#unsaved.add(entry);
    }
    const { rows, records } = this.size;
    if (rows >= this.#bounds.rows || records >= this.#bounds.records) this.#save();
    else if (this.#timer === undefined && !this.#closed) {
      this.#timer = setTimeout(() => this.#save(), this.#bounds.afterMs);
    }
  }

  /** It is settled that a commit was not stored. */
  ended(number: number): void {
    this.#open.delete(number);
  }

  /**
   * Finds out whether a commit of unknown outcome was stored, and makes sure that it is not stored
   * later.
   * @returns its versionstamp, or null where it was not stored
   * @throws whatever the store throws while it tells nothing at all
   */
  async settle(number: number, attempt: string): Promise<string | null> {
    const { kv } = this.#store;
    const key = journalKey(number);
    const used: JournalRow = { v: 1, attempt: null, records: [] };
    try {
      const { ok } = await retryWhileLocked(() =>
        kv.atomic().check({ key, versionstamp: null }).set(key, used).commit()
      );
      if (ok) return null;
    } catch { // a disk that is full takes no row: then the row that is missing is answer enough
    }
    const row = await retryWhileLocked(() => kv.get<JournalRow>(key));
    return row.value?.attempt === attempt ? row.versionstamp : null;
  }

  /** The same, however long it takes: "unknown" where the relay ends before. */
  settleAtLast(number: number, attempt: string): Promise<string | null | "unknown"> {
    const settled = this.#settleAtLast(number, attempt);
    this.#settling.add(settled);
    return settled.finally(() => this.#settling.delete(settled));
  }

  async #settleAtLast(number: number, attempt: string): Promise<string | null | "unknown"> {
    while (!this.#closed) {
      try {
        return await this.settle(number, attempt);
      } catch (error) {
        this.#onFailure(error);
        await pause(RETRY_MS);
      }
    }
    return "unknown";
  }

  /** Writes records to their rows, until the journal is within its bounds. */
  #save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#saving ??= this.#saveOnce().catch(async (error) => {
      this.#onFailure(error);
      await pause(RETRY_MS);
    }).finally(() => {
      this.#saving = null;
      for (const wake of this.#waiting.splice(0)) wake();
      if (this.#unsaved.size > 0 && !this.#closed) {
        this.#timer ??= setTimeout(() => this.#save(), this.#bounds.afterMs);
      }
    });
  }

  async #saveOnce(): Promise<void> {
    // What comes from here on has higher numbers, or is in a commit that has not ended.
    const end = Math.min(this.#next, ...this.#open);
    const entries = [...this.#unsaved].sort((a, b) => compareKeys(a.key, b.key));
    for (let at = 0; at < entries.length;) {
      const batch = this.#batchFrom(entries, at);
      await this.#saveBatch(batch);
      at += batch.length;
    }
    while (this.#first < end) {
      const last = Math.min(end, this.#first + DELETIONS);
      const deletion = () => {
        const operation = this.#store.kv.atomic();
        for (let number = this.#first; number < last; number++) {
          operation.delete(journalKey(number));
        }
        return operation.commit();
      };
      await retryWhileLocked(deletion);
      this.#first = last;
    }
  }

  /** As many of the next records as one commit takes. */
  #batchFrom(entries: readonly RecordEntry[], at: number): RecordEntry[] {
    let end = at;
    let bytes = 0;
    for (; end < entries.length && end - at < this.#bounds.batch; end++) {
      const { key, value } = entries[end]!;
      bytes += journalSizeBytes(key, value);
      if (bytes > this.#store.capacity.bytes && end > at) break;
    }
    return entries.slice(at, end);
  }

  /** In the order of their keys, so that neighbours share a page. */
  async #saveBatch(entries: readonly RecordEntry[]): Promise<void> {
    const values = entries.map(({ value }) => value);
    await retryWhileLocked(() => {
      const operation = this.#store.kv.atomic();
      for (const [i, { key }] of entries.entries()) operation.set(key, values[i]);
      return operation.commit();
    });
    for (const [i, entry] of entries.entries()) {
      if (entry.value !== values[i]) continue; // changed meanwhile: its row is behind again
      entry.unsaved = false;
      this.#unsaved.delete(entry);
    }
  }

  /** Writes every record to its row, so that the next start has nothing to replay. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await Promise.all([this.#saving, ...this.#settling]);
    if (this.size.rows === 0) return;
    try {
      await this.#saveOnce();
    } catch (error) {
      this.#onFailure(error); // the next start replays
    }
  }
}

function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, forMs));
}

/** As the store orders keys of strings and numbers of one shape. */
function compareKeys(a: Deno.KvKey, b: Deno.KvKey): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    if (a[i] === b[i]) continue;
    return (a[i] as string | number) < (b[i] as string | number) ? -1 : 1;
  }
  return a.length - b.length;
}
