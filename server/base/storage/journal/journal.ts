// Over 300 lines: commits, reads and saving share what is not in its rows yet.
/**
 * The journal of an exclusive store, an adapter over another. A commit writes one row, or a few, under
 * ascending numbers, whatever it changes; rows that changed stay in memory until they are written to
 * where they belong: some seconds later, many in one commit, in the order of their keys. What is written
 * and deleted again before then never gets there (docs/adr/0042).
 *
 * What keeps it correct:
 * - Reads see what memory has before what the store has. A row leaves memory when it is saved, and all
 *   reads of the store that began before have ended.
 * - A commit waits for commits under way that change or check one of its keys. So rows of the journal
 *   that hold the same key ascend in the order of the changes, and replaying is harmless, however often it is done.
 * - What is large, and the deletion of what memory lacks, goes to its own row at once; the journal
 *   says only that what it held of that key before is outdated.
 * - A commit requires its number unused. An unclear one is settled by using the number up: either it was
 *   stored by then, or it never will be. Until that is known its keys stay held, and the number stays used
 *   up until the process ends.
 * - A save that was called failed cannot come to the store after a later one (save_fence.ts).
 */
import type { Backend, MaybeRow, Row, RowCheck, Write } from "../rows/backend.ts";
import { orderedName, rangeOf } from "./key_order.ts";
import {
  type Change,
  changesOf,
  cutIntoRows,
  DELETED,
  expiring,
  fitsRow,
  type FormerJournalRow,
  journalKey,
  type JournalRow,
  journalSizeBytes,
  SET,
  THROUGH,
} from "./journal_row.ts";
import { SaveFence } from "./save_fence.ts";
import { keySizeBytes } from "../rows/stored_size.ts";
import { SortedNames } from "./sorted_names.ts";

export interface JournalBounds {
  /** Rows of the journal, changed rows and their bytes, at which they are written to where they belong. */
  rows: number;
  changes: number;
  bytes: number;
  /** How long a row may be behind, in ms, if neither comes before. */
  afterMs: number;
}

/** Measured: a start reads as much as these allow in about a second. */
export const JOURNAL_BOUNDS: JournalBounds = {
  rows: 2_048,
  changes: 60_000,
  bytes: 48 * 1024 * 1024,
  afterMs: 10_000,
};

/** While there is this many times as much as there should be, saving does not pause. */
const LONG = 2;
/** While there is this many times as much, commits wait. */
const FULL = 3;
/** Larger values gain nothing by a second copy. */
const THROUGH_BYTES = 16 * 1024;
/** How often a failed step is tried again. */
const RETRY_MS = 250;
/** Bounds of one commit that saves. */
const SAVED_ROWS = 256;
const SAVED_BYTES = 700_000;
const SAVED_KEY_BYTES = 60_000;
const DELETIONS = 500;
/** Of up to 64 KiB. */
const ROWS_OF_A_READ = 100;
/** How long the end of a relay may take for saving: what is left is read by the next start. */
const CLOSING_MS = 400;

export interface JournalOptions {
  random: (sizeBytes: number) => Uint8Array;
  /** The system's clock, which the store expires by. */
  now?: () => number;
  bounds?: JournalBounds;
  /** Called with each failure of the store. */
  onFailure?: (error: unknown) => void;
}

/** A change that is in the journal, and later in its own row. */
type Deferred = Exclude<Change, readonly [typeof THROUGH, Deno.KvKey]>;

/** A row that was changed. Never mutated but for `unsaved`: a new change replaces it. */
interface Entry {
  readonly name: string;
  readonly change: Deferred;
  /** Of the row as it is; null where it was deleted. */
  readonly version: string | null;
  readonly sizeBytes: number;
  /** Its own row is behind. */
  unsaved: boolean;
}

/** What a commit changes: side by side the changes, the names of their keys, and what they take in the journal. */
interface Made {
  changes: readonly Change[];
  names: readonly string[];
  sizes: readonly number[];
}

export class Journal implements Backend {
  readonly #by: string;
  readonly #now: () => number;
  readonly #bounds: JournalBounds;
  readonly #onFailure: (error: unknown) => void;
  readonly #fence: SaveFence;
  /** What reads see before they see the store. */
  readonly #entries = new Map<string, Entry>();
  readonly #names = new SortedNames();
  #unsaved = 0;
  #unsavedBytes = 0;
  /** By name: the end of the commit under way that holds it. */
  readonly #held = new Map<string, Promise<void>>();
  /** The next number; the first of those that may still have a row. */
  #next = 0;
  #first = 0;
  /** First numbers of commits that have not ended. */
  readonly #open = new Set<number>();
  /** Numbers whose commits were not stored, and may still be on their way to a row that is not there. */
  readonly #usedUp = new Set<number>();
  /** Reads of the store under way, in the order in which they began. */
  readonly #reads = new Set<number>();
  #lastRead = 0;
  /** What leaves memory once all reads up to one have ended. */
  readonly #leaving: { lastRead: number; entries: Entry[] }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saving: Promise<void> | null = null;
  readonly #commits = new Set<Promise<unknown>>();
  #waiting: (() => void)[] = [];
  #closed = false;
  /** On the monotonic clock: what is not saved by then stays in the journal. */
  #untilMs = Infinity;
  /** Numbers of a former process, until its rows are saved. */
  readonly #former: number[] = [];

  private constructor(private readonly store: Backend, options: JournalOptions) {
    this.#by = options.random(8).toHex();
    this.#now = options.now ?? Date.now;
    this.#bounds = options.bounds ?? JOURNAL_BOUNDS;
    this.#onFailure = options.onFailure ?? (() => {});
    this.#fence = new SaveFence(store);
  }

  /** Reads what a former process has left. Nothing else may write the store from here on. */
  static async open(store: Backend, options: JournalOptions): Promise<Journal> {
    const journal = new Journal(store, options);
    await journal.#replay();
    return journal;
  }

  async #replay(): Promise<void> {
    let start = journalKey(0);
    for (;;) {
      const rows = await this.store.list<JournalRow | FormerJournalRow>(
        { prefix: journalKey.under(), start },
        ROWS_OF_A_READ,
        false,
      );
      for (const { key, value } of rows) {
        const number = key[1] as number;
        const changes = changesOf(value);
        const sizes = changes.map(([kind, changed, set]) =>
          journalSizeBytes(
            kind === SET
              ? { kind: "set", key: changed, value: set }
              : { kind: "delete", key: changed },
          )
        );
        const names = changes.map(([, changed]) => orderedName(changed));
        this.#apply({ changes, names, sizes }, versionOf(number), null);
        this.#former.push(number);
      }
      if (rows.length < ROWS_OF_A_READ) break;
      start = journalKey(this.#former.at(-1)! + 1);
    }
    // By the clock: nothing that a former process may still have under way meets it.
    this.#next = this.#first = Math.max(this.#now() * 1_000, (this.#former.at(-1) ?? 0) + 1);
    if (this.#former.length > 0) this.#saveLater();
  }

  /** Rows that a former process has left. */
  get replayed(): number {
    return this.#former.length;
  }

  /** Own rows that may stand in the store, and what is behind. */
  get size(): { rows: number; changes: number; bytes: number } {
    const rows = this.#next - this.#first;
    return { rows, changes: this.#unsaved, bytes: this.#unsavedBytes };
  }

  get<T>(key: Deno.KvKey): Promise<MaybeRow<T>> {
    const name = orderedName(key);
    const entry = this.#entries.get(name);
    if (entry !== undefined) return Promise.resolve(rowOf<T>(entry));
    return this.#read(() => this.store.get<T>(key), (row) => {
      const newer = this.#entries.get(name);
      return newer === undefined ? row : rowOf<T>(newer);
    });
  }

  async getMany<T>(keys: readonly Deno.KvKey[]): Promise<MaybeRow<T>[]> {
    const names = keys.map(orderedName);
    const absent = keys.filter((_, i) => !this.#entries.has(names[i]!));
    const merge = (rows: MaybeRow<T>[]) => {
      let at = 0;
      const found = names.map((name, i) => {
        const row = keys[i] === absent[at] ? rows[at++] : undefined;
        const entry = this.#entries.get(name);
        return entry === undefined ? row : rowOf<T>(entry);
      });
      return found as MaybeRow<T>[];
    };
    if (absent.length === 0) return merge([]);
    return await this.#read(() => this.store.getMany<T>(absent), merge);
  }

  async list<T>(selector: Deno.KvListSelector, limit: number, reverse: boolean): Promise<Row<T>[]> {
    const range = rangeOf(selector);
    for (let most = limit;; most *= 4) {
      const merged = await this.#read(
        () => this.store.list<T>(selector, most, reverse),
        (rows) => this.#merge(rows, { ...range, reverse, limit, isWhole: rows.length < most }),
      );
      if (merged !== null) return merged;
    }
  }

  watch(keys: readonly Deno.KvKey[]): ReadableStream<MaybeRow<unknown>[]> {
    return this.store.watch(keys);
  }

  /** @param merge what memory has by then comes before what was read */
  async #read<Read, Result>(
    read: () => Promise<Read>,
    merge: (found: Read) => Result,
  ): Promise<Result> {
    const number = ++this.#lastRead;
    this.#reads.add(number);
    try {
      return merge(await read());
    } finally {
      this.#reads.delete(number);
      if (this.#leaving.length > 0) this.#leave();
    }
  }

  /** @returns null where the store has to be asked for more of its rows */
  #merge<T>(
    rows: Row<T>[],
    { from, to, reverse, limit, isWhole }: {
      from: string;
      to: string;
      reverse: boolean;
      limit: number;
      isWhole: boolean;
    },
  ): Row<T>[] | null {
    const names = this.#names.between(from, to, reverse);
    let next = names.next();
    if (next.done) return rows;
    const comesFirst = reverse ? (a: string, b: string) => a > b : (a: string, b: string) => a < b;
    const merged: Row<T>[] = [];
    const take = (name: string) => {
      const entry = this.#entries.get(name)!;
      if (entry.version !== null) merged.push(rowOf<T>(entry) as Row<T>);
    };
    for (const row of rows) {
      const name = orderedName(row.key);
      while (!next.done && comesFirst(next.value, name) && merged.length < limit) {
        take(next.value);
        next = names.next();
      }
      if (merged.length >= limit) return merged;
      if (!next.done && next.value === name) {
        take(name);
        next = names.next();
      } else merged.push(row);
    }
    if (merged.length >= limit) return merged;
    if (!isWhole) return null;
    for (; !next.done && merged.length < limit; next = names.next()) take(next.value);
    return merged;
  }

  async commit(checks: readonly RowCheck[], writes: readonly Write[]): Promise<string | null> {
    const checked = checks.map(({ key }) => orderedName(key));
    const written = writes.map(({ key }) => orderedName(key));
    const sizes = writes.map(journalSizeBytes);
    for (;;) {
      const held = this.#heldBy(checked) ?? this.#heldBy(written);
      if (held !== undefined) await held;
      else if (this.#isFull) await this.#room();
      else if (this.#mustBeSaved(written, sizes)) await this.#saveNow();
      else break;
    }
    const left: RowCheck[] = [];
    for (const [i, check] of checks.entries()) {
      const entry = this.#entries.get(checked[i]!);
      if (entry === undefined) left.push(check);
      else if (entry.version !== check.versionstamp) return null;
    }
    if (writes.length === 0 && left.length === 0) return versionOf(this.#next);
    const commit = this.#commit(left, writes, written, sizes);
    const ended = commit.then(() => {}, () => {});
    for (const name of written) this.#held.set(name, ended);
    for (const name of checked) this.#held.set(name, ended);
    this.#commits.add(commit);
    const release = () => {
      for (const name of written) this.#held.delete(name);
      for (const name of checked) this.#held.delete(name);
      this.#commits.delete(commit);
    };
    try {
      return await commit;
    } finally {
      release();
    }
  }

  #heldBy(names: readonly string[]): Promise<void> | undefined {
    if (this.#held.size === 0) return undefined;
    for (const name of names) {
      const held = this.#held.get(name);
      if (held !== undefined) return held;
    }
  }

  /** Whether a value that no row of the journal can hold replaces one that is in the journal alone. */
  #mustBeSaved(names: readonly string[], sizes: readonly number[]): boolean {
    return sizes.some((size, i) => !fitsRow(size) && this.#entries.get(names[i]!)?.unsaved);
  }

  async #commit(
    checks: readonly RowCheck[],
    writes: readonly Write[],
    names: readonly string[],
    sizes: readonly number[],
  ): Promise<string | null> {
    const nowMs = this.#now();
    const made = { changes: [] as Change[], names: [] as string[], sizes: [] as number[] };
    const note = (change: Change, name: string, sizeBytes: number) => {
      made.changes.push(change);
      made.names.push(name);
      made.sizes.push(sizeBytes);
    };
    const own: Write[] = [];
    const through: Write[] = [];
    for (const [i, write] of writes.entries()) {
      const { key } = write;
      if (write.kind === "sum" || write.kind === "set" && write.value instanceof Deno.KvU64) {
        own.push(write);
        continue;
      }
      const isUnsaved = this.#entries.get(names[i]!)?.unsaved ?? false;
      const goesThrough = !isUnsaved &&
        (write.kind === "delete" || sizes[i]! > THROUGH_BYTES);
      if (goesThrough) {
        through.push(write);
        note([THROUGH, key], names[i]!, journalSizeBytes({ kind: "delete", key }));
      } else if (write.kind === "delete") note([DELETED, key], names[i]!, sizes[i]!);
      else if (write.expireInMs === undefined) note([SET, key, write.value], names[i]!, sizes[i]!);
      else note([SET, key, write.value, nowMs + write.expireInMs], names[i]!, sizes[i]!);
    }
    const rows = cutIntoRows(made.changes, made.sizes);
    const number = this.#next;
    this.#next += rows.length;
    this.#open.add(number);
    const stored = rows.map((some, i): Write => {
      const value: JournalRow = { v: 2, by: this.#by, changes: some };
      return { kind: "set", key: journalKey(number + i), value };
    });
    const isFree = { key: journalKey(number), versionstamp: null };
    let versionstamp: string | null = null;
    let failure: unknown = null;
    try {
      versionstamp = await this.store.commit([...checks, isFree], [...own, ...through, ...stored]);
    } catch (error) {
      failure = error;
    }
    if (versionstamp === null && (failure !== null || checks.length === 0)) {
      versionstamp = await this.#settle(number, failure);
    }
    this.#open.delete(number);
    if (versionstamp === null) {
      if (failure !== null) throw failure;
      return null;
    }
    const version = versionOf(number);
    this.#apply(made, version, { writes: through, versionstamp });
    if (this.#isOver(1)) this.#save();
    else this.#saveLater();
    return version;
  }

  /**
   * Finds out whether a commit of unknown outcome was stored, and makes sure that it is not stored later:
   * however long it takes.
   * @returns its versionstamp, or null where it was not stored
   * @throws the failure where the relay ends before
   */
  async #settle(number: number, failure: unknown): Promise<string | null> {
    const key = journalKey(number);
    for (;;) {
      try {
        if (failure !== null) await this.#useUp(key);
        const row = await this.store.get<JournalRow>(key);
        if (row.value?.by === this.#by) return row.versionstamp;
        if (failure !== null) this.#usedUp.add(number);
        return null;
      } catch (error) {
        this.#onFailure(error);
        if (this.#closed) throw failure ?? error;
        await pause(RETRY_MS);
      }
    }
  }

  async #useUp(key: Deno.KvKey): Promise<void> {
    const used: JournalRow = { v: 2, by: null, changes: [] };
    try {
      await this.store.commit([{ key, versionstamp: null }], [{ kind: "set", key, value: used }]);
    } catch { // a disk that is full takes no row: then the row that is missing is answer enough
    }
  }

  /** Puts changes into memory. @param through those of them that the store has, and as what */
  #apply(
    { changes, names, sizes }: Made,
    version: string,
    through: { writes: readonly Write[]; versionstamp: string } | null,
  ): void {
    const leaving: Entry[] = [];
    let at = 0;
    for (const [i, change] of changes.entries()) {
      const key = change[1];
      const name = names[i]!;
      if (change[0] === THROUGH) {
        if (through === null) { // of a former process: nothing is known but that the store has it
          this.#forget(name);
          continue;
        }
        const write = through.writes[at++]!;
        const entry: Entry = {
          name,
          change: write.kind === "set" ? [SET, key, write.value] : [DELETED, key],
          version: write.kind === "set" ? through.versionstamp : null,
          sizeBytes: 0,
          unsaved: false,
        };
        this.#put(entry);
        leaving.push(entry);
        continue;
      }
      this.#put({
        name,
        change,
        version: change[0] === SET ? version : null,
        sizeBytes: sizes[i]!,
        unsaved: true,
      });
    }
    if (leaving.length > 0) this.#letGo(leaving);
  }

  #put(entry: Entry): void {
    const former = this.#entries.get(entry.name);
    if (former === undefined) this.#names.add(entry.name);
    else if (former.unsaved) this.#uncount(former);
    this.#entries.set(entry.name, entry);
    if (!entry.unsaved) return;
    this.#unsaved++;
    this.#unsavedBytes += entry.sizeBytes;
  }

  #uncount(entry: Entry): void {
    this.#unsaved--;
    this.#unsavedBytes -= entry.sizeBytes;
  }

  #forget(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    if (entry.unsaved) this.#uncount(entry);
    this.#entries.delete(name);
    this.#names.delete(name);
  }

  /** Has memory lose rows that the store has, once nobody reads it as it was before. */
  #letGo(entries: Entry[]): void {
    this.#leaving.push({ lastRead: this.#lastRead, entries });
    this.#leave();
  }

  #leave(): void {
    const [oldest = Infinity] = this.#reads;
    while (this.#leaving.length > 0 && this.#leaving[0]!.lastRead < oldest) {
      for (const entry of this.#leaving.shift()!.entries) {
        if (this.#entries.get(entry.name) === entry) this.#forget(entry.name);
      }
    }
  }

  get #isFull(): boolean {
    return !this.#closed && this.#isOver(FULL);
  }

  #isOver(times: number): boolean {
    const { rows, changes, bytes } = this.#bounds;
    return this.size.rows >= times * rows || this.#unsaved >= times * changes ||
      this.#unsavedBytes >= times * bytes;
  }

  async #room(): Promise<void> {
    this.#save();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async #saveNow(): Promise<void> {
    this.#save();
    await this.#saving;
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #saveLater(): void {
    if (!this.#closed) this.#timer ??= setTimeout(() => this.#save(), this.#bounds.afterMs);
  }

  /** Writes rows to where they belong. */
  #save(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#saving ??= this.#saveOnce().catch(async (error) => {
      this.#onFailure(error);
      await pause(RETRY_MS);
    }).finally(async () => {
      // A commit that has not ended keeps its row and all later rows; unclear ones take a while.
      if (this.#isFull) await pause(RETRY_MS);
      this.#saving = null;
      this.#wake();
      if (this.#unsaved > 0) this.#saveLater();
    });
  }

  async #saveOnce(): Promise<void> {
    // What comes from here on has higher numbers, or is in a commit that has not ended.
    const end = Math.min(this.#next, ...this.#open);
    const entries: Entry[] = [];
    for (const name of this.#names.between("", "\xff")) {
      const entry = this.#entries.get(name)!;
      if (entry.unsaved) entries.push(entry);
    }
    for (let at = 0; at < entries.length;) {
      const batch = batchFrom(entries, at);
      const beganMs = performance.now();
      if (beganMs > this.#untilMs) return;
      await this.#saveBatch(batch);
      at += batch.length;
      this.#wake();
      // Commits of the relay wait for each batch: half of the time is theirs.
      const tookMs = performance.now() - beganMs;
      if (!this.#closed && !this.#isOver(LONG)) await pause(Math.min(tookMs, RETRY_MS));
    }
    await this.#deleteRows(end);
  }

  async #saveBatch(entries: readonly Entry[]): Promise<void> {
    // What was changed meanwhile is written by a later save.
    const current = entries.filter((entry) => this.#entries.get(entry.name) === entry);
    if (current.length === 0) return;
    const nowMs = this.#now();
    await this.#fence.commit(current.map(({ change }) => expiring(change, nowMs)));
    for (const entry of current) {
      if (!entry.unsaved || this.#entries.get(entry.name) !== entry) continue;
      entry.unsaved = false;
      this.#uncount(entry);
    }
    this.#letGo(current);
  }

  async #deleteRows(end: number): Promise<void> {
    while (this.#former.length > 0) {
      await this.#deleteNumbers(this.#former.slice(0, DELETIONS));
      this.#former.splice(0, DELETIONS);
    }
    while (this.#first < end) {
      const last = Math.min(end, this.#first + DELETIONS);
      const numbers = Array.from({ length: last - this.#first }, (_, i) => this.#first + i);
      await this.#deleteNumbers(numbers.filter((number) => !this.#usedUp.has(number)));
      this.#first = last;
      this.#wake();
    }
  }

  async #deleteNumbers(numbers: readonly number[]): Promise<void> {
    await this.store.commit(
      [],
      numbers.map((number) => ({ kind: "delete", key: journalKey(number) })),
    );
  }

  /** Saves while there is time, so that the next start has little to read. */
  async close(): Promise<void> {
    this.#untilMs = performance.now() + CLOSING_MS;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#wake();
    await Promise.allSettled([this.#saving, ...this.#commits]);
    try {
      if (this.#unsaved > 0 || this.#first < this.#next) await this.#saveOnce();
      // Nothing of this process is on its way any more.
      if (this.#unsaved === 0) await this.#deleteNumbers([...this.#usedUp].slice(0, DELETIONS));
    } catch (error) {
      this.#onFailure(error); // the next start reads it
    }
  }
}

function rowOf<T>({ change: [, key, value], version }: Entry): MaybeRow<T> {
  return version === null
    ? { key, value: null, versionstamp: null }
    : { key, value: value as T, versionstamp: version };
}

/** Nothing that Deno KV gives a row is above it. */
function versionOf(number: number): string {
  return `f${number.toString(16).padStart(19, "0")}`;
}

/** As many of the next rows as one commit takes. */
function batchFrom(entries: readonly Entry[], at: number): Entry[] {
  let end = at;
  let bytes = 0;
  let keyBytes = 0;
  for (; end < entries.length && end - at < SAVED_ROWS; end++) {
    const { change: [, key], sizeBytes } = entries[end]!;
    bytes += sizeBytes;
    keyBytes += keySizeBytes(key);
    if (end > at && (bytes > SAVED_BYTES || keyBytes > SAVED_KEY_BYTES)) break;
  }
  return entries.slice(at, end);
}

function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, forMs));
}
