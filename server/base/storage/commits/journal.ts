// Over 300 lines: numbers, their settling and the saving of records lean on each other.
/**
 * The journal of an exclusive store. Nearly every commit writes the two records of its mailboxes, each
 * on a page of its own. Instead, a commit puts all *deferred* records that it changes into one row
 * under an ascending number. Their own rows are written later, many in one commit, and then the rows
 * of the journal go (docs/adr/0042).
 *
 * What keeps it correct:
 * - A row of the journal holds whole records, not changes. Where two rows hold the same record, the
 *   higher number holds the later one, since an uncommitted group locks its records. So replaying is
 *   harmless, however often it is done.
 * - A record whose own row is behind stays in memory, so that nobody reads that row.
 * - A start replays before anything else reads the store; a shared one too.
 * - A commit requires its number unused. An unclear one is settled by using the number up: either it
 *   was stored by then, or it never will be. Its records stay locked until that is known, and the number
 *   stays used up until the process ends.
 * - A save that was called failed cannot come to the store after a later one (save_fence.ts).
 */
import {
  journalKey,
  type JournalRecord,
  type JournalRow,
  journalSizeBytes,
  settleNumber,
} from "./journal_row.ts";
import type { RowCheck, Write } from "../rows/backend.ts";
import type { RecordEntry } from "./record_cache.ts";
import { SaveFence } from "./save_fence.ts";
import type { Store } from "../rows/store.ts";

export * from "./journal_row.ts";

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
  rows: 1_024,
  records: 30_000,
  afterMs: 10_000,
  batch: 256,
};

/** While the journal is this many times as long as it should be, saving does not pause. */
const LONG = 2;
/** While it is this many times as long, no group is formed. */
const FULL = 3;
/** With this many unclear commits the store counts as silent. */
const UNCLEAR = 4;
/** How often a failed step is tried again. */
const RETRY_MS = 250;
const DELETIONS = 500;
/** How long the end of a relay may take for saving: what is left is replayed. */
const CLOSING_MS = 400;

export interface JournalOptions {
  store: Store;
  bounds?: JournalBounds;
  /** By the clock unless given: nothing that a former process may still have under way meets it. */
  firstNumber?: number;
  /** Called with each failure of the store. */
  onFailure?: (error: unknown) => void;
}

export class Journal {
  readonly #store: Store;
  readonly #bounds: JournalBounds;
  readonly #onFailure: (error: unknown) => void;
  /** The next number; the first of those that may still have a row. */
  #next: number;
  #first: number;
  /** Numbers of commits that have not ended. */
  readonly #open = new Set<number>();
  /** Numbers whose commits were not stored, and may still be on their way to a row that is not there. */
  readonly #usedUp = new Set<number>();
  readonly #fence: SaveFence;
  readonly #unsaved = new Set<RecordEntry>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saving: Promise<void> | null = null;
  readonly #settling = new Set<Promise<unknown>>();
  #waiting: (() => void)[] = [];
  #closed = false;
  /** On the monotonic clock: what is not saved by then stays in the journal. */
  #untilMs = Infinity;

  constructor(options: JournalOptions) {
    const { store, firstNumber = store.now() * 1_000 } = options;
    this.#store = store;
    this.#fence = new SaveFence(store);
    this.#bounds = options.bounds ?? JOURNAL_BOUNDS;
    this.#onFailure = options.onFailure ?? (() => {});
    this.#next = this.#first = firstNumber;
  }

  /** Rows that may stand in the store, and records whose own rows are behind. */
  get size(): { rows: number; records: number } {
    return { rows: this.#next - this.#first, records: this.#unsaved.size };
  }

  /**
   * Whether commits must wait: until records have been written to their rows, or until the store
   * says whether earlier commits were stored.
   */
  get isFull(): boolean {
    return !this.#closed && (this.#settling.size >= UNCLEAR || this.#isOver(FULL));
  }

  #isOver(times: number): boolean {
    const { rows, records } = this.size;
    return rows >= times * this.#bounds.rows || records >= times * this.#bounds.records;
  }

  /** Resolves once it is not full. */
  async whenNotFull(): Promise<void> {
    while (this.isFull) {
      this.#save();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** A number for one commit. */
  begin(): number {
    this.#open.add(this.#next);
    return this.#next++;
  }

  /** The row of a commit, and what it requires. Without records it only proves the commit. */
  rowOf(
    number: number,
    attempt: string,
    records: readonly JournalRecord[],
  ): { check: RowCheck; write: Write } {
    const key = journalKey(number);
    const value: JournalRow = { v: 1, attempt, records };
    return { check: { key, versionstamp: null }, write: { kind: "set", key, value } };
  }

  /** A commit was stored: memory holds the records that its row has. */
  stored(number: number, entries: Iterable<RecordEntry>): void {
    this.#open.delete(number);
    for (const entry of entries) {
      entry.unsaved = true;
      this.#unsaved.add(entry);
    }
    if (this.#isOver(1)) this.#save();
    else this.#saveLater();
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
    const stored = await settleNumber(this.#store, number, attempt);
    if (stored === null) this.#usedUp.add(number);
    return stored;
  }

  /** The same, however long it takes: "unknown" where the relay ends before. */
  settleAtLast(number: number, attempt: string): Promise<string | null | "unknown"> {
    const settled = this.#settleAtLast(number, attempt);
    this.#settling.add(settled);
    return settled.finally(() => {
      this.#settling.delete(settled);
      this.#wake();
    });
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

  #saveLater(): void {
    if (!this.#closed) this.#timer ??= setTimeout(() => this.#save(), this.#bounds.afterMs);
  }

  /** Writes records to their rows. */
  #save(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#saving ??= this.#saveOnce().catch(async (error) => {
      this.#onFailure(error);
      await pause(RETRY_MS);
    }).finally(async () => {
      // A commit that has not ended keeps its row and all later rows; unclear ones take a while.
      if (this.isFull) await pause(RETRY_MS);
      this.#saving = null;
      this.#wake();
      if (this.#unsaved.size > 0) this.#saveLater();
    });
  }

  async #saveOnce(): Promise<void> {
    // What comes from here on has higher numbers, or is in a commit that has not ended.
    const end = Math.min(this.#next, ...this.#open);
    for (const entries of inOrder(this.#unsaved)) {
      for (let at = 0; at < entries.length;) {
        const batch = this.#batchFrom(entries, at);
        const beganMs = performance.now();
        if (beganMs > this.#untilMs) return;
        await this.#saveBatch(batch);
        at += batch.length;
        this.#wake();
        // Commits of the relay wait for each batch: half of the time is theirs.
        const tookMs = performance.now() - beganMs;
        if (!this.#closed && !this.#isOver(LONG)) await pause(Math.min(tookMs, RETRY_MS));
      }
    }
    while (this.#first < end) {
      const last = Math.min(end, this.#first + DELETIONS);
      const numbers = Array.from({ length: last - this.#first }, (_, i) => this.#first + i);
      await this.#deleteRows(numbers.filter((number) => !this.#usedUp.has(number)));
      this.#first = last;
      this.#wake();
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
    await this.#fence.commit(
      entries.map(({ key }, i): Write => ({ kind: "set", key, value: values[i] })),
    );
    for (const [i, entry] of entries.entries()) {
      if (entry.value !== values[i]) continue; // changed meanwhile: its row is behind again
      entry.unsaved = false;
      this.#unsaved.delete(entry);
    }
  }

  /** The process ends: nothing of it is on its way any more. */
  async #deleteUsedUp(): Promise<void> {
    const numbers = [...this.#usedUp];
    while (numbers.length > 0 && performance.now() < this.#untilMs) {
      const some = numbers.splice(0, DELETIONS);
      await this.#deleteRows(some);
    }
  }

  async #deleteRows(numbers: readonly number[]): Promise<void> {
    const deletions = numbers.map((number): Write => ({
      kind: "delete",
      key: journalKey(number),
    }));
    await this.#store.commit([], deletions);
  }

  /** Writes records to their rows while there is time, so that the next start has little to replay. */
  async close(): Promise<void> {
    this.#untilMs = performance.now() + CLOSING_MS;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#wake();
    await Promise.all([this.#saving, ...this.#settling]);
    try {
      if (this.size.rows > 0) await this.#saveOnce();
      await this.#deleteUsedUp();
    } catch (error) {
      this.#onFailure(error); // the next start replays
    }
  }
}

function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, forMs));
}

/** Records by the first part of their keys, each kind as the store orders it. */
function inOrder(entries: Iterable<RecordEntry>): RecordEntry[][] {
  const kinds = new Map<unknown, RecordEntry[]>();
  for (const entry of entries) {
    const kind = kinds.get(entry.key[0]);
    if (kind === undefined) kinds.set(entry.key[0], [entry]);
    else kind.push(entry);
  }
  const idOf = ({ key }: RecordEntry) => key[1] as string | number;
  const byId = (a: RecordEntry, b: RecordEntry) => idOf(a) < idOf(b) ? -1 : 1;
  return [...kinds.values()].map((kind) => kind.sort(byId));
}
