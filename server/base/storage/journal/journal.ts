// Over 300 lines: numbers, their settling and the saving of rows lean on each other.
/**
 * The journal of an exclusive store, an adapter over another. A commit writes one row, or a few, under
 * ascending numbers, whatever it changes. The changed rows stay in memory until they are saved: written
 * to where they belong some seconds later, many in one commit, in the order of their keys. What is
 * written and deleted again before then never gets there (docs/adr/0042).
 *
 * What keeps it correct:
 * - Reads see what was changed before what the store has (changed_rows.ts).
 * - A commit waits for commits under way that change or check one of its keys. So changes of one key
 *   stand in the journal in their order, and replaying is harmless, however often it is done.
 * - What is large goes to its own row at once, and so does the deletion of what memory lacks; the
 *   journal then says that what it held of that key is outdated. Reads of it meanwhile wait for the commit.
 * - A commit requires its number unused. An unclear one is settled by using the number up: either it was
 *   stored by then, or it never will be. Until that is known its keys stay held, and the number stays
 *   used up until the process ends.
 * - A save that was called failed cannot come to the store after a later one (save_fence.ts).
 */
import type { Backend, MaybeRow, Row, RowCheck, Write } from "../rows/backend.ts";
import { doneWithin } from "../../time/done_within.ts";
import { NoAnswer } from "../rows/call_deadline.ts";
import { keySizeBytes } from "../rows/stored_size.ts";
import { asRow, type ChangedRow, ChangedRows } from "./changed_rows.ts";
import {
  type Change,
  changesOf,
  cutIntoRows,
  DELETED,
  fitsJournal,
  type FormerJournalRow,
  journalKey,
  type JournalRow,
  journalSizeBytes,
  savedAs,
  SET,
  THROUGH,
} from "./journal_row.ts";
import { orderedName, rangeOf } from "./key_order.ts";
import { SaveFence } from "./save_fence.ts";

export interface JournalBounds {
  /** Rows of the journal, changed rows and their bytes, at which these are saved. */
  rows: number;
  changes: number;
  bytes: number;
  /** How long a row may wait to be saved, in ms, if neither comes before. */
  afterMs: number;
  /** How long a commit waits for what has to be saved first, in ms; ROOM_MS unless given. */
  roomMs?: number;
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
/** How often a failed step is tried again; what a commit waits for, sooner at first. */
const RETRY_MS = 250;
const FIRST_RETRY_MS = 4;
/** Bounds of one commit that saves. */
const SAVED_ROWS = 256;
const SAVED_BYTES = 700_000;
const SAVED_KEY_BYTES = 60_000;
const DELETIONS = 500;
/** Of up to 64 KiB. */
const ROWS_OF_A_READ = 100;
/** A job that waits is tried again then, as long as its caller waits for it. */
const ROOM_MS = 5_000;
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

/** A write with what is computed of it once. */
interface Planned {
  write: Write;
  name: string;
  sizeBytes: number;
  /** It goes to its own row, whatever there is of it in the journal. */
  isDirect: boolean;
}

export class Journal implements Backend {
  readonly #by: string;
  readonly #now: () => number;
  readonly #bounds: JournalBounds;
  readonly #onFailure: (error: unknown) => void;
  readonly #fence: SaveFence;
  readonly #changed = new ChangedRows();
  /** By name: the end of the commit under way that holds it. */
  readonly #held = new Map<string, Promise<unknown>>();
  /** Numbers of a former process, until what it changed is saved. */
  readonly #former: number[] = [];
  /** The next number; the first of those that may still have a row. */
  #next = 0;
  #first = 0;
  /** First numbers of commits that have not ended. */
  readonly #open = new Set<number>();
  /** Numbers whose commits were not stored, and may still be on their way to a row that is not there. */
  readonly #usedUp = new Set<number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saving: Promise<void> | null = null;
  #waiting: (() => void)[] = [];
  #closed = false;
  /** On the monotonic clock: what is not saved by then stays in the journal. */
  #untilMs = Infinity;

  private constructor(private readonly store: Backend, options: JournalOptions) {
    this.#by = options.random(8).toHex();
    this.#now = options.now ?? Date.now;
    this.#bounds = options.bounds ?? JOURNAL_BOUNDS;
    this.#onFailure = options.onFailure ?? (() => {});
    this.#fence = new SaveFence(store);
  }

  /** Reads what a former process has left. Nothing else may read or write the store from here on. */
  static async open(store: Backend, options: JournalOptions): Promise<Journal> {
    const journal = new Journal(store, options);
    await journal.#replay();
    return journal;
  }

  async #replay(): Promise<void> {
    for (let start = journalKey(0);;) {
      const rows = await this.store.list<JournalRow | FormerJournalRow>(
        { prefix: journalKey.under(), start },
        ROWS_OF_A_READ,
        false,
      );
      for (const { key, value } of rows) {
        const number = key[1] as number;
        for (const change of changesOf(value)) {
          const name = orderedName(change[1]);
          if (change[0] === THROUGH) this.#changed.forget(name);
          else this.#put(change, name, sizeOf(change), versionstampOf(number));
        }
        this.#former.push(number);
      }
      if (rows.length < ROWS_OF_A_READ) break;
      start = journalKey(this.#former.at(-1)! + 1);
    }
    // By the clock: nothing that a former process may still have under way meets it.
    this.#next = this.#first = Math.max(this.#now() * 1_000, (this.#former.at(-1) ?? 0) + 1);
    if (this.#former.length > 0) this.#saveLater();
  }

  #put(
    change: Exclude<Change, readonly [typeof THROUGH, Deno.KvKey]>,
    name: string,
    sizeBytes: number,
    versionstamp: string,
  ): void {
    const [kind, key, value, expiresAtMs] = change;
    this.#changed.put({
      name,
      key,
      value,
      versionstamp: kind === SET ? versionstamp : null,
      expiresAtMs,
      sizeBytes,
      unsaved: true,
    });
  }

  /** Rows that a former process has left, until they are saved. */
  get replayed(): number {
    return this.#former.length;
  }

  /** Own rows that may stand in the store, and what waits to be saved. */
  get size(): { rows: number; changes: number; bytes: number } {
    const { rows: changes, bytes } = this.#changed.unsaved;
    return { rows: this.#next - this.#first, changes, bytes };
  }

  async get<T>(key: Deno.KvKey): Promise<MaybeRow<T>> {
    return (await this.getMany<T>([key]))[0]!;
  }

  async getMany<T>(keys: readonly Deno.KvKey[]): Promise<MaybeRow<T>[]> {
    const names = keys.map(orderedName);
    const present = () => names.map((name) => this.#changed.get(name));
    let before = present();
    if (!before.includes(undefined)) return before.map((row) => asRow<T>(row!));
    const read = () => {
      before = present();
      const absent = keys.filter((_, i) => before[i] === undefined);
      return absent.length === 0 ? Promise.resolve([]) : this.#readAll<T>(absent);
    };
    return await this.#changed.read(read, (name) => names.includes(name), (rows) => {
      let at = 0;
      // What has left memory meanwhile is as it was.
      return names.map((name, i) => {
        const row = before[i] === undefined ? rows[at++]! : asRow<T>(before[i]);
        const changed = this.#changed.get(name);
        return changed === undefined ? row : asRow<T>(changed);
      });
    });
  }

  async #readAll<T>(keys: readonly Deno.KvKey[]): Promise<MaybeRow<T>[]> {
    return keys.length === 1 ? [await this.store.get<T>(keys[0]!)] : this.store.getMany<T>(keys);
  }

  async list<T>(selector: Deno.KvListSelector, limit: number, reverse: boolean): Promise<Row<T>[]> {
    const range = rangeOf(selector);
    const deleted = this.#changed.deletedBefore(range, limit, reverse);
    for (let most = limit + deleted;; most *= 4) {
      const merged = await this.#changed.read(
        () => this.store.list<T>(selector, most, reverse),
        (name) => name >= range.from && name < range.to,
        (rows) => this.#changed.merge(rows, range, { most, limit, reverse }),
      );
      if (merged !== null) return merged;
    }
  }

  watch(keys: readonly Deno.KvKey[]): ReadableStream<MaybeRow<unknown>[]> {
    return this.store.watch(keys);
  }

  /**
   * Where the store does not say whether it has stored a commit, waits until it does, or the relay ends.
   * @throws what was not stored, but for the last case
   */
  async commit(checks: readonly RowCheck[], writes: readonly Write[]): Promise<string | null> {
    const planned = writes.map(plan);
    const checked = checks.map(({ key }) => orderedName(key));
    // Sums of one counter may come in any order, and many commits that are held long share one.
    const changing = planned.filter(({ write }) => write.kind !== "sum");
    const names = [...checked, ...changing.map(({ name }) => name)];
    const untilMs = performance.now() + (this.#bounds.roomMs ?? ROOM_MS);
    for (;;) {
      const held = this.#heldBy(names);
      if (held !== undefined) await held;
      else if (!this.#isFull && !planned.some((one) => this.#mustBeSaved(one))) break;
      else await this.#saved(untilMs);
    }
    const left: RowCheck[] = [];
    for (const [i, check] of checks.entries()) {
      const row = this.#changed.get(checked[i]!);
      if (row === undefined) left.push(check);
      else if (row.versionstamp !== check.versionstamp) return null;
    }
    if (writes.length === 0) {
      return left.length > 0 ? await this.store.commit(left, []) : versionstampOf(this.#next);
    }
    const commit = this.#commit(left, planned);
    const ended = commit.catch(() => {});
    for (const name of names) this.#held.set(name, ended);
    try {
      return await commit;
    } finally {
      for (const name of names) this.#held.delete(name);
    }
  }

  #heldBy(names: readonly string[]): Promise<unknown> | undefined {
    if (this.#held.size === 0) return undefined;
    for (const name of names) {
      const held = this.#held.get(name);
      if (held !== undefined) return held;
    }
  }

  /** Whether what no row of the journal can hold replaces what is in the journal alone. */
  #mustBeSaved({ name, isDirect }: Planned): boolean {
    return isDirect && this.#changed.get(name)?.unsaved === true;
  }

  async #commit(
    checks: readonly RowCheck[],
    planned: readonly Planned[],
  ): Promise<string | null> {
    const nowMs = this.#now();
    const changes: Change[] = [];
    const sizes: number[] = [];
    /** Those of the changes, and what goes to its own row. */
    const changing: Planned[] = [];
    const direct: Planned[] = [];
    for (const one of planned) {
      const { write, name, sizeBytes } = one;
      const { kind, key } = write;
      if (kind === "sum") {
        direct.push(one);
        continue;
      }
      changing.push(one);
      const isUnsaved = this.#changed.get(name)?.unsaved === true;
      if (one.isDirect || !isUnsaved && (kind === "delete" || sizeBytes > THROUGH_BYTES)) {
        direct.push(one);
        changes.push([THROUGH, key]);
        sizes.push(journalSizeBytes({ kind: "delete", key }));
        continue;
      }
      sizes.push(sizeBytes);
      if (kind === "delete") changes.push([DELETED, key]);
      else if (write.expireInMs === undefined) changes.push([SET, key, write.value]);
      else changes.push([SET, key, write.value, nowMs + write.expireInMs]);
    }
    const rows = cutIntoRows(changes, sizes);
    const number = this.#next;
    this.#next += rows.length;
    this.#open.add(number);
    const written = direct.map(({ write }) => write);
    for (const [i, some] of rows.entries()) {
      const value: JournalRow = { v: 2, by: this.#by, changes: some };
      written.push({ kind: "set", key: journalKey(number + i), value });
    }
    const isFree = { key: journalKey(number), versionstamp: null };
    const ended = Promise.withResolvers<void>();
    if (direct.length > 0) {
      void this.#changed.writes(direct.map(({ name }) => name), ended.promise);
    }
    try {
      const stored = await this.#store([...checks, isFree], written, number);
      if (stored === null) return null;
      const versionstamp = versionstampOf(number);
      const saved: ChangedRow[] = [];
      for (const { write, name } of direct) if (write.kind === "sum") this.#changed.forget(name);
      for (const [i, change] of changes.entries()) {
        const { name, sizeBytes } = changing[i]!;
        if (change[0] === THROUGH) saved.push(this.#putThrough(changing[i]!, stored));
        else this.#put(change, name, sizeBytes, versionstamp);
      }
      if (saved.length > 0) this.#changed.saved(saved);
      // Not before memory has its changes: a save takes away the rows of all that has ended.
      this.#open.delete(number);
      if (this.#isOver(1)) this.#save();
      else this.#saveLater();
      return versionstamp;
    } finally {
      ended.resolve();
    }
  }

  /** What went to its own row stays in memory as long as a read may have begun before. */
  #putThrough({ write, name, sizeBytes }: Planned, stored: string): ChangedRow {
    const row: ChangedRow = {
      name,
      key: write.key,
      value: write.kind === "set" ? write.value : undefined,
      versionstamp: write.kind === "set" ? stored : null,
      expiresAtMs: undefined,
      sizeBytes,
      unsaved: false,
    };
    this.#changed.put(row);
    return row;
  }

  /**
   * @returns the versionstamp of the commit, however the store has answered; null where a check did not hold
   * @throws what the store threw, where nothing was stored
   */
  async #store(
    checks: readonly RowCheck[],
    writes: readonly Write[],
    number: number,
  ): Promise<string | null> {
    let failure: unknown;
    let stored: string | null;
    try {
      stored = await this.store.commit(checks, writes) ?? await this.#storedUnder(number);
    } catch (error) {
      failure = error;
      stored = await this.#settle(number, error); // where that throws, its rows have to stay
    }
    if (stored !== null) return stored;
    this.#open.delete(number);
    if (failure !== undefined) throw failure;
    return null;
  }

  /** The versionstamp of the row that this process has under a number, or null. */
  async #storedUnder(number: number): Promise<string | null> {
    const { value, versionstamp } = await this.store.get<JournalRow>(journalKey(number));
    return value?.by === this.#by ? versionstamp : null;
  }

  /**
   * Finds out whether a commit of unknown outcome was stored, and makes sure that it is not stored
   * later: however long it takes.
   * @throws the failure where the relay ends before
   */
  async #settle(number: number, failure: unknown): Promise<string | null> {
    for (let pauseMs = FIRST_RETRY_MS;; pauseMs = Math.min(RETRY_MS, 2 * pauseMs)) {
      try {
        await this.#useUp(number);
        const stored = await this.#storedUnder(number);
        if (stored === null) this.#usedUp.add(number);
        return stored;
      } catch (error) {
        this.#onFailure(error);
        if (this.#closed) throw failure;
        await pause(pauseMs);
      }
    }
  }

  async #useUp(number: number): Promise<void> {
    const key = journalKey(number);
    const used: JournalRow = { v: 2, by: null, changes: [] };
    try {
      await this.store.commit([{ key, versionstamp: null }], [{ kind: "set", key, value: used }]);
    } catch { // a disk that is full takes no row: then the row that is missing is answer enough
    }
  }

  get #isFull(): boolean {
    return !this.#closed && this.#isOver(FULL);
  }

  #isOver(times: number): boolean {
    const { rows, changes, bytes } = this.size;
    return rows >= times * this.#bounds.rows || changes >= times * this.#bounds.changes ||
      bytes >= times * this.#bounds.bytes;
  }

  /** Resolves when something was saved. @throws NoAnswer where nothing is any more, or not in time */
  async #saved(untilMs: number): Promise<void> {
    if (this.#closed || performance.now() > untilMs) {
      throw new NoAnswer("is behind with saving its journal");
    }
    this.#save();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #saveLater(): void {
    if (!this.#closed) this.#timer ??= setTimeout(() => this.#save(), this.#bounds.afterMs);
  }

  /** Saves what was changed so far. */
  #save(): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#saving !== null) return;
    const first = this.#first;
    this.#saving = this.#saveOnce().catch(async (error) => {
      this.#onFailure(error);
      await pause(RETRY_MS);
    }).finally(async () => {
      // A commit that has not ended keeps its row and all later rows; unclear ones take a while.
      if (this.#isOver(1) && this.#first === first) await pause(RETRY_MS);
      this.#saving = null;
      this.#wake();
      const { rows, changes } = this.size;
      if (this.#isOver(1)) this.#save();
      else if (rows + changes + this.#former.length > 0) this.#saveLater();
    });
  }

  async #saveOnce(): Promise<void> {
    // What comes from here on has higher numbers, or is in a commit that has not ended.
    const end = Math.min(this.#next, ...this.#open);
    const rows = this.#changed.inOrder();
    for (let at = 0; at < rows.length;) {
      const batch = batchFrom(rows, at);
      const beganMs = performance.now();
      if (beganMs > this.#untilMs) return;
      await this.#saveBatch(batch);
      at += batch.length;
      this.#wake();
      // Commits of the relay wait for each batch: half of the time is theirs.
      const tookMs = performance.now() - beganMs;
      if (!this.#closed && !this.#isOver(LONG)) await pause(Math.min(tookMs, RETRY_MS));
    }
    while (this.#former.length > 0) {
      await this.#deleteRows(this.#former.slice(0, DELETIONS));
      this.#former.splice(0, DELETIONS);
    }
    while (this.#first < end) {
      const last = Math.min(end, this.#first + DELETIONS);
      const numbers = Array.from({ length: last - this.#first }, (_, i) => this.#first + i);
      await this.#deleteRows(numbers.filter((number) => !this.#usedUp.has(number)));
      this.#first = last;
      this.#wake();
    }
  }

  async #saveBatch(rows: readonly ChangedRow[]): Promise<void> {
    // What was changed meanwhile is left to a later save.
    const current = rows.filter((row) => this.#changed.get(row.name) === row);
    if (current.length === 0) return;
    const nowMs = this.#now();
    await this.#fence.commit(current.map((row) => savedAs(row, nowMs)));
    this.#changed.saved(current);
  }

  async #deleteRows(numbers: readonly number[]): Promise<void> {
    const keys = numbers.map((number) => journalKey(number));
    await this.store.commit([], keys.map((key): Write => ({ kind: "delete", key })));
  }

  /** Saves while there is time, so that the next start has little to read. */
  async close(): Promise<void> {
    this.#untilMs = performance.now() + CLOSING_MS;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#wake();
    try {
      await doneWithin(this.#saveLast(), 2 * CLOSING_MS); // a silent store is not waited for
    } catch (error) {
      this.#onFailure(error); // the next start reads it
    }
  }

  async #saveLast(): Promise<void> {
    await Promise.all([this.#saving, ...this.#held.values()]);
    await this.#saveOnce();
    // Nothing of this process is on its way any more.
    const numbers = [...this.#usedUp];
    while (numbers.length > 0 && this.size.changes === 0 && performance.now() < this.#untilMs) {
      await this.#deleteRows(numbers.splice(0, DELETIONS));
    }
  }
}

/** A value that only Deno KV itself can hold, or would refuse, goes to it at once. */
function plan(given: Write): Planned {
  const value = given.kind === "set" ? detached(given.value) : undefined;
  const write = given.kind === "set" && given.value !== value ? { ...given, value } : given;
  const name = orderedName(write.key);
  const sizeBytes = journalSizeBytes(write);
  return { write, name, sizeBytes, isDirect: !fitsJournal(write, name, sizeBytes) };
}

/** Bytes alone, as the store gives them: not the larger buffer that a view keeps. */
function detached(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  const isWhole = value.constructor === Uint8Array && value.byteLength === value.buffer.byteLength;
  return isWhole ? value : new Uint8Array(value);
}

/** No versionstamp of Deno KV begins like it. */
function versionstampOf(number: number): string {
  return `f${number.toString(16).padStart(19, "0")}`;
}

function sizeOf([kind, key, value]: Change): number {
  return journalSizeBytes(kind === SET ? { kind: "set", key, value } : { kind: "delete", key });
}

/** As many of the next rows as one commit takes. */
function batchFrom(rows: readonly ChangedRow[], at: number): ChangedRow[] {
  let end = at;
  let bytes = 0;
  let keyBytes = 0;
  for (; end < rows.length && end - at < SAVED_ROWS; end++) {
    bytes += rows[end]!.sizeBytes;
    keyBytes += keySizeBytes(rows[end]!.key);
    if (end > at && (bytes > SAVED_BYTES || keyBytes > SAVED_KEY_BYTES)) break;
  }
  return rows.slice(at, end);
}

function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, forMs));
}
