// Over 300 lines: a group and the transaction of each job in it know each other alone.
/** Builds one atomic operation from the plans of several jobs over records they share. */
import { attemptKey, attemptRow } from "../rows/attempt.ts";
import type { RowCheck, Write } from "../rows/backend.ts";
import type { IdSequence } from "./id_sequence.ts";
import {
  type CommitSize,
  type GroupAnnotation,
  isFor,
  Outdated,
  type Planned,
  type Transaction,
} from "./job.ts";
import type { Pending } from "./job_queue.ts";
import { type JoinedPart, JoinedRows } from "./joined_rows.ts";
import { randomId } from "../rows/random_id.ts";
import { isRecordKey, type RecordKey } from "./record_key.ts";
import { type RecordCache, type RecordEntry, recordName } from "./record_cache.ts";
import { ENCLOSING_BYTES, keySizeBytes, valueSizeBytes } from "../rows/stored_size.ts";
import type { Store } from "../rows/store.ts";

export interface PlanGroupOptions {
  store: Store;
  records: RecordCache;
  ids: IdSequence;
  annotations?: readonly GroupAnnotation[];
}

export class PlanGroup {
  readonly attempt: string;
  readonly nowMs: number;
  readonly livedMs: number;
  /** The slot under which this group's ids are given: a later slot must not confirm them. */
  readonly #slotChecks: readonly RowCheck[];
  readonly members: (Planned & { pending: Pending })[] = [];
  readonly entries = new Map<string, RecordEntry>();
  readonly staged = new Map<string, unknown>();
  /** What the staged records take, by name. */
  readonly #recordBytes = new Map<string, number>();
  readonly #expiries = new Map<string, number>();
  readonly #rows: Write[] = [];
  readonly #joined = new JoinedRows();
  readonly #absent = new Map<string, Deno.KvKey>();
  #mutations = 0;
  #bytes = 0;
  #keyBytes = 0;

  constructor(private readonly options: PlanGroupOptions) {
    const { store, ids } = options;
    this.nowMs = store.now();
    this.livedMs = Math.ceil(store.lived());
    this.attempt = randomId(store);
    this.#slotChecks = ids.checks;
  }

  get records(): RecordCache {
    return this.options.records;
  }

  get ids(): IdSequence {
    return this.options.ids;
  }

  /** Whether a job on these records could join, judged by its checks and by the number of jobs. */
  mayTake(names: Iterable<string>): boolean {
    if (this.members.length === 0) return true;
    const { capacity } = this.options.store;
    if (this.members.length >= (capacity.jobs ?? Infinity)) return false;
    let fresh = 0;
    for (const name of names) {
      if (!this.entries.has(name)) fresh++;
    }
    return this.#checksWith(fresh) <= capacity.checks;
  }

  #checksWith(freshEntries: number): number {
    const entries = this.options.store.exclusive ? 0 : this.entries.size + freshEntries;
    return entries + this.#absent.size + this.#slotChecks.length;
  }

  /** What the records that a job has staged add to the commit: one that it has already, what it grows by. */
  #stagedSize({ staged }: JobTransaction) {
    const size = { mutations: 0, bytes: 0, ofRecords: new Map<string, number>() };
    for (const [name, value] of staged) {
      const sizeBytes = valueSizeBytes(value);
      const former = this.#recordBytes.get(name);
      size.ofRecords.set(name, sizeBytes);
      size.bytes += sizeBytes - (former ?? 0);
      if (former === undefined) size.mutations++;
    }
    return size;
  }

  /**
   * Adds what a job planned, if it fits beside what the group holds already.
   * @returns false when there is no room left; then nothing is added
   * @throws RangeError for a job that no commit on this store can hold
   * @throws TypeError for a plan that writes a record as a row
   */
  add(pending: Pending, result: unknown, transaction: JobTransaction): boolean {
    this.#requireLawful(transaction);
    const { store: { capacity }, annotations = [] } = this.options;
    const fresh = [...transaction.entries].filter(([name]) => !this.entries.has(name));
    const concerned = annotations.filter((annotation) => isFor(annotation, result));
    const size = transaction.size(concerned.map((annotation) => annotation.sizeOf(result)));
    const staged = this.#stagedSize(transaction);
    const joined = this.#joined.sizeOf(transaction.joined);
    let keyBytes = this.#keyBytes + size.keyBytes + (joined?.keyBytes ?? 0);
    for (const [, { key }] of fresh) keyBytes += 2 * keySizeBytes(key);
    const checks = this.#checksWith(fresh.length) + transaction.absent.length +
      (this.#failsByItself(transaction) ? 0 : 1);
    const mutations = this.#mutations + size.mutations + staged.mutations +
      (joined?.mutations ?? 0);
    const bytes = this.#bytes + size.bytes + staged.bytes + (joined?.bytes ?? 0);
    if (
      joined === null || checks > capacity.checks ||
      mutations > capacity.mutations ||
      // The journal has each key as well, and encloses each change.
      bytes + 2 * keyBytes + ENCLOSING_BYTES * mutations > capacity.bytes ||
      keyBytes > capacity.keyBytes
    ) {
      if (this.members.length > 0) return false;
      const names = [...transaction.entries.keys()].join(", ");
      throw new RangeError(`a job on ${names} is larger than any commit on this store`);
    }
    this.members.push({ pending, result, announced: transaction.announced });
    for (const [name, entry] of fresh) this.entries.set(name, entry);
    for (const [name, sizeBytes] of staged.ofRecords) this.#recordBytes.set(name, sizeBytes);
    this.#mutations = mutations;
    this.#bytes = bytes;
    this.#keyBytes = keyBytes;
    this.addRows(transaction);
    return true;
  }

  /** Whether a job requires the absence of a row that an earlier one requires absent too, and writes. */
  repeats({ absent }: JobTransaction): boolean {
    return absent.some((key) => this.#absent.has(recordName(key)));
  }

  #requireLawful({ rows }: JobTransaction): void {
    if (!this.options.store.exclusive) return; // there the cache may be outdated
    for (const { key } of rows) {
      if (!isRecordKey(key)) continue;
      const entry = this.records.peek(recordName(key));
      if (entry !== undefined && (entry.value !== null || entry.locked)) {
        throw new TypeError(`record ${recordName(key)} is written as a row, unchecked`);
      }
    }
  }

  /** Adds rows that belong to no single job. */
  addRows(transaction: JobTransaction): void {
    for (const [name, value] of transaction.staged) {
      this.staged.set(name, value);
      const expireInMs = transaction.expiries.get(name);
      if (expireInMs === undefined) this.#expiries.delete(name); // an earlier job's was for a time
      else this.#expiries.set(name, expireInMs);
    }
    for (const row of transaction.rows) this.#rows.push(row);
    for (const part of transaction.joined) this.#joined.add(part);
    for (const key of transaction.absent) this.#absent.set(recordName(key), key);
  }

  lock(): void {
    for (const entry of this.entries.values()) entry.locked = true;
  }

  /** Whether the commit, where a network repeats it, fails by a record that it has changed itself. */
  #failsByItself(transaction?: JobTransaction): boolean {
    return this.options.store.exclusive ||
      [this.staged, transaction?.staged ?? []].some((staged) => {
        for (const [name, value] of staged) {
          if (value !== null || this.records.peekUnused(name)!.versionstamp !== null) return true;
        }
        return false;
      });
  }

  /** What the commit is made of: sums come first, so that one that fails prevents the later writes. */
  operation(): { checks: RowCheck[]; writes: Write[] } {
    const { exclusive } = this.options.store;
    const checks: RowCheck[] = [];
    if (!exclusive) { // where memory is right, and the locks in it hold, there is nothing to check
      for (const { key, versionstamp } of this.entries.values()) checks.push({ key, versionstamp });
    }
    for (const key of this.#absent.values()) checks.push({ key, versionstamp: null });
    for (const check of this.#slotChecks) checks.push(check);
    const writes = this.#rows.filter(({ kind }) => kind === "sum");
    for (const [name, value] of this.staged) {
      const { key } = this.entries.get(name)!;
      if (value === null) writes.push({ kind: "delete", key });
      else {
        const expireInMs = this.#expiries.get(name);
        writes.push({
          kind: "set",
          key,
          value,
          expireInMs,
          sizeBytes: this.#recordBytes.get(name),
        });
      }
    }
    for (const row of this.#rows) if (row.kind !== "sum") writes.push(row);
    for (const row of this.#joined.writes()) writes.push(row);
    if (writes.length === 0 || exclusive) return { checks, writes };
    writes.push(attemptRow(this.attempt));
    if (!this.#failsByItself()) {
      checks.push({ key: attemptKey(this.attempt), versionstamp: null });
    }
    return { checks, writes };
  }

  /** Puts what was committed into memory. */
  succeed(versionstamp: string): void {
    this.records.revision++;
    for (const [name, value] of this.staged) {
      const entry = this.entries.get(name)!;
      entry.value = value;
      entry.versionstamp = value === null ? null : versionstamp;
    }
    for (const [name, entry] of this.entries) this.records.unlock(name, entry);
    // A record that memory knew as absent may now exist.
    for (const { key } of this.#rows) if (isRecordKey(key)) this.records.evict(recordName(key));
  }

  /**
   * Drops from memory every record of a commit that failed or whose outcome is unknown.
   */
  fail(): void {
    this.records.revision++; // it may have been stored
    for (const [name, entry] of this.entries) {
      this.records.unlock(name, entry);
      this.records.evict(name);
    }
  }

  /**
   * Names of the records that the store holds in another version than the failed commit had
   * checked.
   */
  async changedRecords(): Promise<Set<string>> {
    const changed = new Set<string>();
    await Promise.all([...this.entries].map(async ([name, { key, versionstamp }]) => {
      const entry = await this.records.load(key);
      if (entry.versionstamp !== versionstamp) changed.add(name);
    }));
    return changed;
  }
}

/** What a plan waits for: a record that memory lacks, or one that others hold. */
export type Waits = { missing: RecordKey<unknown> } | { held: string };

/** What one job does while it is planned; its writes reach the group only when plan() returns. */
export class JobTransaction implements Transaction {
  /** The records that it has asked for. */
  readonly entries = new Map<string, RecordEntry>();
  readonly staged = new Map<string, unknown>();
  readonly expiries = new Map<string, number>();
  readonly rows: Write[] = [];
  readonly joined: JoinedPart[] = [];
  readonly absent: Deno.KvKey[] = [];
  readonly announced: { topic: string; what: unknown }[] = [];
  /** True once the job has read a record that an earlier job of the group has changed. */
  sawStaged = false;
  /** Set where the plan was ended since a record is not there to be read. */
  waits: Waits | null = null;

  /** @param isHeld whether jobs that were passed over wait for a record */
  constructor(
    private readonly group: PlanGroup,
    private readonly isHeld: (name: string) => boolean = () => false,
  ) {}

  get nowMs(): number {
    return this.group.nowMs;
  }

  get livedMs(): number {
    return this.group.livedMs;
  }

  get attempt(): string {
    return this.group.attempt;
  }

  /**
   * Upper bounds of what the job adds to a commit, with what annotations add for it, but
   * without its records and what it adds to joined rows.
   */
  size(sizes: readonly CommitSize[]): CommitSize & { keyBytes: number } {
    const size = { mutations: this.rows.length, bytes: 0, keyBytes: 0 };
    for (const { mutations, bytes } of sizes) {
      size.mutations += mutations;
      size.bytes += bytes;
    }
    for (const row of this.rows) {
      size.keyBytes += keySizeBytes(row.key);
      if (row.kind !== "set") size.bytes += 8;
      else size.bytes += row.sizeBytes ??= valueSizeBytes(row.value);
    }
    for (const key of this.absent) size.keyBytes += keySizeBytes(key);
    return size;
  }

  /** @throws NotReadable where it has to be waited for */
  #entryOf(key: RecordKey<unknown>): { name: string; entry: RecordEntry } {
    const name = recordName(key);
    const known = this.entries.get(name);
    if (known !== undefined) return { name, entry: known };
    if (!isRecordKey(key)) throw new TypeError(`${name} is no declared record: see defineRecord()`);
    const entry = this.group.records.peek(name);
    if (entry === undefined) this.waits = { missing: key };
    else if (entry.locked || this.isHeld(name)) this.waits = { held: name };
    else {
      this.entries.set(name, entry);
      return { name, entry };
    }
    throw new NotReadable();
  }

  requireVersion(key: RecordKey<unknown>, versionstamp: string | null): void {
    this.requireCommitted(key);
    if (this.#entryOf(key).entry.versionstamp !== versionstamp) throw new Outdated();
  }

  requireCommitted(key: RecordKey<unknown>): void {
    if (!this.group.staged.has(this.#entryOf(key).name)) return;
    this.sawStaged = true;
    throw new Outdated();
  }

  record<R>(key: RecordKey<R>): R | null {
    const { name, entry } = this.#entryOf(key);
    if (this.staged.has(name)) return this.staged.get(name) as R | null;
    if (this.group.staged.has(name)) {
      this.sawStaged = true;
      return this.group.staged.get(name) as R | null;
    }
    return entry.value as R | null;
  }

  putRecord<R>(key: RecordKey<R>, value: R | null, expireInMs?: number): void {
    const { name } = this.#entryOf(key);
    this.staged.set(name, value);
    if (expireInMs === undefined) this.expiries.delete(name);
    else this.expiries.set(name, Math.max(1, expireInMs));
  }

  requireAbsent(key: Deno.KvKey): void {
    this.absent.push(key);
  }

  set(key: Deno.KvKey, value: unknown, expireInMs?: number): void {
    const expires = expireInMs === undefined ? undefined : Math.max(1, expireInMs);
    this.rows.push({ kind: "set", key, value, expireInMs: expires });
  }

  append(key: Deno.KvKey, bytes: Uint8Array): void {
    this.joined.push({ key, bytes });
  }

  delete(key: Deno.KvKey): void {
    this.rows.push({ kind: "delete", key });
  }

  sum(key: Deno.KvKey, amount: bigint): void {
    this.rows.push({ kind: "sum", key, amount });
  }

  announce(topic: string, what: unknown): void {
    this.announced.push({ topic, what });
  }

  allocateId(above: number): number {
    return this.group.ids.next(above, this.group.nowMs);
  }
}

/** Ends a plan whose transaction says what it waits for. */
class NotReadable extends Error {}
