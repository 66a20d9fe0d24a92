// Over 300 lines: a group and the turn of each job in it know each other alone.
/** Builds one atomic operation from the plans of several jobs over records they share. */
import type { GroupAnnotation, Room, Turn } from "./job.ts";
import type { IdSequence } from "./id_sequence.ts";
import {
  type Journal,
  JOURNAL_ROW_BYTES,
  type JournalRecord,
  journalSizeBytes,
} from "./journal.ts";
import { type JoinedPart, JoinedRows } from "./joined_rows.ts";
import { randomId } from "./random_id.ts";
import { isRecordKey, type RecordKey } from "./record_key.ts";
import { type RecordCache, type RecordEntry, recordName } from "./record_cache.ts";
import { keySizeBytes, valueSizeBytes } from "./stored_size.ts";
import type { Store } from "./store.ts";

type Row =
  | { kind: "set"; key: Deno.KvKey; value: unknown; expireInMs: number | undefined }
  | { kind: "delete"; key: Deno.KvKey }
  | { kind: "sum"; key: Deno.KvKey; amount: bigint };

export class PlanGroup<P> {
  readonly attempt: string;
  readonly nowMs: number;
  readonly livedMs: number;
  /** The slot under which this group's ids are given: a later slot must not confirm them. */
  readonly #slotChecks: readonly Deno.AtomicCheck[];
  readonly members: { pending: P; result: unknown }[] = [];
  readonly entries = new Map<string, RecordEntry>();
  /** How many of them the commit checks: those that are not deferred. */
  #checkedEntries = 0;
  /** What the group's row in the journal takes, by record. */
  readonly #journalled = new Map<string, number>();
  #journalBytes = 0;
  #journalNumber: number | null = null;
  readonly staged = new Map<string, unknown>();
  readonly #expiries = new Map<string, number>();
  readonly #rows: Row[] = [];
  readonly #joined = new JoinedRows();
  readonly #absent: Deno.KvKey[] = [];
  #mutations = 0;
  #bytes = 0;
  #keyBytes = 0;

  constructor(
    private readonly store: Store,
    readonly records: RecordCache,
    readonly ids: IdSequence,
    private readonly annotations: readonly GroupAnnotation[] = [],
    /** Where an exclusive store keeps deferred records first. */
    private readonly journal: Journal | null = null,
  ) {
    this.nowMs = store.now();
    this.livedMs = Math.ceil(store.lived());
    this.attempt = randomId(store);
    this.#slotChecks = ids.checks;
  }

  /** Whether a job on these records could join, judged by its checks and by the number of jobs. */
  mayTake(names: readonly string[]): boolean {
    if (this.members.length === 0) return true;
    const { capacity } = this.store;
    return this.members.length < (capacity.jobs ?? Infinity) &&
      this.#checksWith(names) <= capacity.checks;
  }

  #checksWith(names: readonly string[]): number {
    let fresh = 0;
    for (const name of names) {
      if (!this.entries.has(name) && !this.records.peekUnused(name)!.deferred) fresh++;
    }
    const ofJournal = this.journal === null ? 0 : 1;
    return this.#checkedEntries + fresh + this.#absent.length + this.#slotChecks.length + ofJournal;
  }

  /** What the records that a job has staged add to the commit, and to its row in the journal. */
  #stagedSize({ staged, expiries }: JobTurn) {
    const size = { mutations: 0, bytes: 0, journalBytes: 0, journalled: new Map<string, number>() };
    for (const [name, value] of staged) {
      const { key, deferred } = this.records.peekUnused(name)!;
      if (!deferred) {
        size.mutations++;
        size.bytes += valueSizeBytes(value);
        continue;
      }
      if (value === null || expiries.has(name)) {
        throw new TypeError(`record ${name} is deferred: it is never deleted and never expires`);
      }
      const sizeBytes = journalSizeBytes(key, value);
      size.journalled.set(name, sizeBytes);
      size.journalBytes += sizeBytes - (this.#journalled.get(name) ?? 0);
    }
    return size;
  }

  /**
   * Adds what a job planned, if it fits beside what the group holds already.
   * @returns false when there is no room left; then nothing is added
   * @throws RangeError for a job that no commit on this store can hold
   * @throws TypeError for a plan that breaks the rules of jobs
   */
  add(
    pending: P & { names: readonly string[] },
    result: unknown,
    turn: JobTurn,
  ): boolean {
    this.#requireLawful(turn);
    const { capacity } = this.store;
    const fresh = pending.names.filter((name) => !this.entries.has(name));
    const size = turn.size(this.annotations.map((annotation) => annotation.room(result)));
    const staged = this.#stagedSize(turn);
    const joined = this.#joined.sizeOf(turn.joined);
    let keyBytes = this.#keyBytes + size.keyBytes + (joined?.keyBytes ?? 0);
    for (const name of fresh) {
      const { key, deferred } = this.records.peekUnused(name)!;
      if (!deferred) keyBytes += 2 * keySizeBytes(key);
    }
    const checks = this.#checksWith(pending.names) + turn.absent.length;
    const journalBytes = this.#journalBytes + staged.journalBytes;
    const mutations = this.#mutations + size.mutations + staged.mutations +
      (joined?.mutations ?? 0);
    const bytes = this.#bytes + size.bytes + staged.bytes + (joined?.bytes ?? 0);
    if (
      joined === null || journalBytes > JOURNAL_ROW_BYTES || checks > capacity.checks ||
      mutations > capacity.mutations ||
      bytes + journalBytes > capacity.bytes ||
      keyBytes > capacity.keyBytes
    ) {
      if (this.members.length > 0) return false;
      const names = pending.names.join(", ");
      throw new RangeError(`a job on ${names} is larger than any commit on this store`);
    }
    this.members.push({ pending, result });
    for (const name of fresh) {
      const entry = this.records.peekUnused(name)!;
      this.entries.set(name, entry);
      if (!entry.deferred) this.#checkedEntries++;
    }
    for (const [name, sizeBytes] of staged.journalled) this.#journalled.set(name, sizeBytes);
    this.#journalBytes = journalBytes;
    this.#mutations = mutations;
    this.#bytes = bytes;
    this.#keyBytes = keyBytes;
    this.addRows(turn);
    return true;
  }

  #requireLawful({ staged, absent, rows, joined }: JobTurn): void {
    const writes = rows.length + joined.length > 0;
    if (!this.store.exclusive && staged.size + absent.length === 0 && writes) {
      throw new TypeError("a job on a shared store writes a record or requires a row absent");
    }
    if (!this.store.exclusive) return; // there the cache may be outdated
    for (const { key } of rows) {
      if (!isRecordKey(key)) continue;
      const entry = this.records.peek(recordName(key));
      if (entry !== undefined && (entry.value !== null || entry.locked)) {
        throw new TypeError(`record ${recordName(key)} is written as a row, unchecked`);
      }
    }
  }

  /** Adds rows that belong to no single job. */
  addRows(turn: JobTurn): void {
    for (const [name, value] of turn.staged) {
      this.staged.set(name, value);
      const expireInMs = turn.expiries.get(name);
      if (expireInMs === undefined) this.#expiries.delete(name); // an earlier job's was for a time
      else this.#expiries.set(name, expireInMs);
    }
    for (const row of turn.rows) this.#rows.push(row);
    for (const part of turn.joined) this.#joined.add(part);
    for (const key of turn.absent) this.#absent.push(key);
  }

  lock(): void {
    for (const entry of this.entries.values()) entry.locked = true;
  }

  /**
   * The atomic operation, built anew for each call. Sums come first, so that one that fails
   * prevents the later writes.
   */
  operation(): Deno.AtomicOperation {
    const operation = this.store.kv.atomic();
    for (const { key, versionstamp, deferred } of this.entries.values()) {
      if (!deferred) operation.check({ key, versionstamp });
    }
    for (const key of this.#absent) operation.check({ key, versionstamp: null });
    for (const check of this.#slotChecks) operation.check(check);
    for (const row of this.#rows) if (row.kind === "sum") operation.sum(row.key, row.amount);
    const journalled: JournalRecord[] = [];
    for (const [name, value] of this.staged) {
      const { key, deferred } = this.entries.get(name)!;
      const expireIn = this.#expiries.get(name);
      if (deferred) journalled.push([key, value]);
      else if (value === null) operation.delete(key);
      else if (expireIn === undefined) operation.set(key, value);
      else operation.set(key, value, { expireIn });
    }
    for (const row of this.#rows) {
      if (row.kind === "delete") operation.delete(row.key);
      else if (row.kind === "set") {
        if (row.expireInMs === undefined) operation.set(row.key, row.value);
        else operation.set(row.key, row.value, { expireIn: Math.max(1, row.expireInMs) });
      }
    }
    this.#joined.writeTo(operation);
    if (journalled.length > 0) {
      this.#journalNumber ??= this.journal!.begin();
      this.journal!.writeTo(operation, this.#journalNumber, this.attempt, journalled);
    }
    return operation;
  }

  /** Its number in the journal, once it was tried, where it has changed deferred records. */
  get journalNumber(): number | null {
    return this.#journalNumber;
  }

  /** Puts what was committed into memory. */
  succeed(versionstamp: string): void {
    this.records.revision++;
    const journalled: RecordEntry[] = [];
    for (const [name, value] of this.staged) {
      const entry = this.entries.get(name)!;
      entry.value = value;
      entry.versionstamp = value === null ? null : versionstamp;
      if (entry.deferred) journalled.push(entry);
    }
    if (this.#journalNumber !== null) this.journal!.stored(this.#journalNumber, journalled);
    for (const [name, entry] of this.entries) this.records.unlock(name, entry);
    // A record that memory knew as absent may now exist.
    for (const { key } of this.#rows) if (isRecordKey(key)) this.records.evict(recordName(key));
  }

  /**
   * Drops from memory every record of a commit that failed or whose outcome is unknown. Of deferred
   * ones it is known that the commit was not stored: memory has them as they are.
   */
  fail(): void {
    this.records.revision++; // it may have been stored
    if (this.#journalNumber !== null) this.journal!.ended(this.#journalNumber);
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
    await Promise.all([...this.entries].map(async ([name, { key, versionstamp, deferred }]) => {
      if (deferred) return; // nobody else writes it
      const entry = await this.records.load(key);
      if (entry.versionstamp !== versionstamp) changed.add(name);
    }));
    return changed;
  }
}

/** What one job does while it is planned; its writes reach the group only when plan() returns. */
export class JobTurn implements Turn {
  readonly staged = new Map<string, unknown>();
  readonly expiries = new Map<string, number>();
  readonly rows: Row[] = [];
  readonly joined: JoinedPart[] = [];
  readonly absent: Deno.KvKey[] = [];
  /** True once the job has read a record that an earlier job of the group has changed. */
  sawStaged = false;

  constructor(
    private readonly group: PlanGroup<unknown>,
    private readonly names: readonly string[],
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
   * Upper bounds of what the job adds to a commit, with the room that annotations need for it, but
   * without its records and what it adds to joined rows.
   */
  size(rooms: readonly Room[]): Room & { keyBytes: number } {
    const size = { mutations: this.rows.length, bytes: 0, keyBytes: 0 };
    for (const { mutations, bytes } of rooms) {
      size.mutations += mutations;
      size.bytes += bytes;
    }
    for (const row of this.rows) {
      size.keyBytes += keySizeBytes(row.key);
      size.bytes += row.kind === "set" ? valueSizeBytes(row.value) : 8;
    }
    for (const key of this.absent) size.keyBytes += keySizeBytes(key);
    return size;
  }

  #own(key: Deno.KvKey): string {
    const name = recordName(key);
    if (!this.names.includes(name)) throw new TypeError(`record ${name} is not the job's`);
    return name;
  }

  record<R>(key: RecordKey<R>): R | null {
    const name = this.#own(key);
    if (this.staged.has(name)) return this.staged.get(name) as R | null;
    if (this.group.staged.has(name)) {
      this.sawStaged = true;
      return this.group.staged.get(name) as R | null;
    }
    return this.group.records.peek(name)!.value as R | null;
  }

  versionOf(key: Deno.KvKey): string | null {
    const name = this.#own(key);
    const { versionstamp, deferred } = this.group.records.peek(name)!;
    if (deferred) throw new TypeError(`record ${name} is deferred: no row has its version`);
    return versionstamp;
  }

  changedInGroup(key: Deno.KvKey): boolean {
    const changed = this.group.staged.has(this.#own(key));
    if (changed) this.sawStaged = true;
    return changed;
  }

  putRecord<R>(key: RecordKey<R>, value: R | null, expireInMs?: number): void {
    const name = this.#own(key);
    this.staged.set(name, value);
    if (expireInMs === undefined) this.expiries.delete(name);
    else this.expiries.set(name, Math.max(1, expireInMs));
  }

  requireAbsent(key: Deno.KvKey): void {
    this.absent.push(key);
  }

  set(key: Deno.KvKey, value: unknown, expireInMs?: number): void {
    this.rows.push({ kind: "set", key, value, expireInMs });
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

  allocateId(above: number): number {
    return this.group.ids.next(above, this.group.nowMs);
  }
}
