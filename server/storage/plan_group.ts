/** One atomic operation in the making: the plans of several jobs over records they share. */
import type { Job, Turn } from "./job.ts";
import type { IdSequence } from "./id_sequence.ts";
import { randomId } from "./random_id.ts";
import { type RecordCache, type RecordEntry, recordName } from "./record_cache.ts";
import type { Store } from "./store.ts";

type Row =
  | { kind: "set"; key: Deno.KvKey; value: unknown; expireInMs: number | undefined }
  | { kind: "delete"; key: Deno.KvKey }
  | { kind: "sum"; key: Deno.KvKey; amount: bigint };

/** Bytes a key takes in the store, an upper bound: each part and its frame. */
function keySizeBytes(key: Deno.KvKey): number {
  let sizeBytes = 0;
  for (const part of key) {
    if (typeof part === "string") sizeBytes += part.length * 3 + 2;
    else if (part instanceof Uint8Array) sizeBytes += part.length * 2 + 2;
    else sizeBytes += 11;
  }
  return sizeBytes;
}

/** Room left for what annotations add to a group. */
const ANNOTATION_MUTATIONS = 40;
const ANNOTATION_BYTES = 40_000;
/** Bound of the keys of a job's rows: short ones, and a signature in one of them. */
const ROW_KEY_BYTES = 64;
const SIGNATURE_KEY_BYTES = 400;
const RECORD_BYTES = 6_000;

export class PlanGroup<P> {
  readonly attempt: string;
  readonly nowMs: number;
  /** The slot under which this group's ids are given: a later one must not vouch for them. */
  readonly #slotChecks: readonly Deno.AtomicCheck[];
  readonly members: { pending: P; result: unknown }[] = [];
  readonly entries = new Map<string, RecordEntry>();
  readonly staged = new Map<string, unknown>();
  readonly #expiries = new Map<string, number>();
  readonly #rows: Row[] = [];
  readonly #absent: Deno.KvKey[] = [];
  #mutations = ANNOTATION_MUTATIONS;
  #bytes = ANNOTATION_BYTES;
  #keyBytes = 2_000;

  constructor(
    private readonly store: Store,
    readonly records: RecordCache,
    readonly ids: IdSequence,
  ) {
    this.nowMs = store.now();
    this.attempt = randomId(store);
    this.#slotChecks = ids.checks;
  }

  /**
   * Whether the job's upper bounds fit beside what the group holds already.
   * @throws RangeError for a job that no commit on this store can hold
   */
  fits(job: Job<unknown>, names: readonly string[]): boolean {
    const fresh = names.filter((name) => !this.entries.has(name)).length;
    const { capacity } = this.store;
    if (this.members.length >= (capacity.jobs ?? Infinity)) return false;
    const checks = this.entries.size + fresh + this.#absent.length + job.cost.checks +
      this.#slotChecks.length;
    const fits = checks <= capacity.checks &&
      this.#mutations + names.length + job.cost.mutations <= capacity.mutations &&
      this.#bytes + names.length * RECORD_BYTES + job.cost.bytes <= capacity.bytes &&
      this.#keyBytes + SIGNATURE_KEY_BYTES + job.cost.mutations * ROW_KEY_BYTES <=
        capacity.keyBytes;
    if (!fits && this.members.length === 0) {
      throw new RangeError(`a job on ${names.join(", ")} is larger than any commit on this store`);
    }
    return fits;
  }

  /** Takes over what a job planned. @throws TypeError for a plan that breaks the rules of jobs */
  add(
    pending: P & { job: Job<unknown>; names: readonly string[] },
    result: unknown,
    turn: JobTurn,
  ): void {
    this.#requireLawful(pending.job, turn);
    this.members.push({ pending, result });
    for (const name of pending.names) {
      if (this.entries.has(name)) continue;
      const entry = this.records.peek(name)!;
      this.entries.set(name, entry);
      this.#mutations++;
      this.#bytes += RECORD_BYTES;
      this.#keyBytes += 2 * keySizeBytes(entry.key);
    }
    this.#bytes += pending.job.cost.bytes;
    this.addRows(turn);
  }

  #requireLawful({ cost }: Job<unknown>, { staged, absent, rows }: JobTurn): void {
    if (absent.length > cost.checks) {
      throw new TypeError(`a job of ${cost.checks} checks requires ${absent.length} rows absent`);
    }
    if (!this.store.exclusive && staged.size + absent.length === 0 && rows.length > 0) {
      throw new TypeError("a job on a shared store writes a record or requires a row absent");
    }
    if (!this.store.exclusive) return; // there the cache is a guess
    for (const { key } of rows) {
      if (key.length !== 2) continue; // longer keys are rows of the hot paths
      const entry = this.records.peek(recordName(key));
      if (entry !== undefined && (entry.value !== null || entry.locked)) {
        throw new TypeError(`record ${recordName(key)} is written as a row, unchecked`);
      }
    }
  }

  /** Takes over rows that belong to no job of their own. */
  addRows(turn: JobTurn): void {
    for (const [name, value] of turn.staged) this.staged.set(name, value);
    for (const [name, expireInMs] of turn.expiries) this.#expiries.set(name, expireInMs);
    for (const row of turn.rows) {
      this.#rows.push(row);
      this.#mutations++;
      this.#keyBytes += keySizeBytes(row.key);
    }
    for (const key of turn.absent) {
      this.#absent.push(key);
      this.#keyBytes += keySizeBytes(key);
    }
  }

  lock(): void {
    for (const entry of this.entries.values()) entry.locked = true;
  }

  /** The atomic operation, built anew for each call. Sums stand first: a failing one keeps later writes. */
  operation(): Deno.AtomicOperation {
    const operation = this.store.kv.atomic();
    for (const { key, versionstamp } of this.entries.values()) {
      operation.check({ key, versionstamp });
    }
    for (const key of this.#absent) operation.check({ key, versionstamp: null });
    for (const check of this.#slotChecks) operation.check(check);
    for (const row of this.#rows) if (row.kind === "sum") operation.sum(row.key, row.amount);
    for (const [name, value] of this.staged) {
      const { key } = this.entries.get(name)!;
      const expireIn = this.#expiries.get(name);
      if (value === null) operation.delete(key);
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
    return operation;
  }

  /** Memory learns what was committed. */
  succeed(versionstamp: string): void {
    this.records.revision++;
    for (const [name, value] of this.staged) {
      const entry = this.entries.get(name)!;
      entry.value = value;
      entry.versionstamp = value === null ? null : versionstamp;
    }
    for (const [name, entry] of this.entries) this.records.unlock(name, entry);
    // What memory knew as absent may be there now.
    for (const { key } of this.#rows) if (key.length === 2) this.records.evict(recordName(key));
  }

  /** Memory forgets every record of a commit that failed or whose outcome is unknown. */
  fail(): void {
    this.records.revision++; // it may have been stored
    for (const [name, entry] of this.entries) {
      this.records.unlock(name, entry);
      this.records.evict(name);
    }
  }

  /** What the commit checked, by record name. */
  checkedVersions(): Map<string, { key: Deno.KvKey; versionstamp: string | null }> {
    return this.entries;
  }
}

/** What one job does in its turn; its writes reach the group only when plan() returns. */
export class JobTurn implements Turn {
  readonly staged = new Map<string, unknown>();
  readonly expiries = new Map<string, number>();
  readonly rows: Row[] = [];
  readonly absent: Deno.KvKey[] = [];
  /** True once the job read a record that an earlier job of the group has changed. */
  sawStaged = false;

  constructor(
    private readonly group: PlanGroup<unknown>,
    private readonly names: readonly string[],
  ) {}

  get nowMs(): number {
    return this.group.nowMs;
  }

  get attempt(): string {
    return this.group.attempt;
  }

  #own(key: Deno.KvKey): string {
    const name = recordName(key);
    if (!this.names.includes(name)) throw new TypeError(`record ${name} is not the job's`);
    return name;
  }

  record<R>(key: Deno.KvKey): R | null {
    const name = this.#own(key);
    if (this.staged.has(name)) return this.staged.get(name) as R | null;
    if (this.group.staged.has(name)) {
      this.sawStaged = true;
      return this.group.staged.get(name) as R | null;
    }
    return this.group.records.peek(name)!.value as R | null;
  }

  versionOf(key: Deno.KvKey): string | null {
    return this.group.records.peek(this.#own(key))!.versionstamp;
  }

  changedInGroup(key: Deno.KvKey): boolean {
    const changed = this.group.staged.has(this.#own(key));
    if (changed) this.sawStaged = true;
    return changed;
  }

  putRecord(key: Deno.KvKey, value: unknown, expireInMs?: number): void {
    const name = this.#own(key);
    this.staged.set(name, value);
    if (expireInMs !== undefined) this.expiries.set(name, Math.max(1, expireInMs));
  }

  requireAbsent(key: Deno.KvKey): void {
    this.absent.push(key);
  }

  set(key: Deno.KvKey, value: unknown, expireInMs?: number): void {
    this.rows.push({ kind: "set", key, value, expireInMs });
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
