/**
 * Group commit: the jobs of concurrent callers travel in one atomic operation, because the store
 * pays one transaction and one fsync an operation, however much it carries.
 *
 * What keeps it correct:
 * - Every job names the records it reads or writes. A record in an uncommitted group enters no
 *   other group, and the commit checks the versionstamp of each, on exclusive stores too.
 * - Memory changes only after a commit succeeded. A failed or unknown one forgets every record it
 *   touched, and each retry plans anew, on freshly read records and with new message ids.
 * - The first group leaves at once (a microtask later); groups grow only while the store is busy.
 *   A timer would cost a lone caller most of its rate.
 * - Over a network a commit can be reported as failed after it succeeded. Each attempt therefore
 *   writes a random attempt id into its jobs' proof rows, and only that id means "mine".
 */
import { RelayError } from "../errors.ts";
import { JobTurn, PlanGroup } from "./plan_group.ts";
import { type RecordCache, type RecordEntry, recordName } from "./record_cache.ts";
import { CeilingReached, type IdSequence } from "./id_sequence.ts";
import { isDatabaseLocked, retryWhileLocked } from "./lock_retry.ts";
import type { Store } from "./store.ts";

export interface Job<T> {
  /** Records that the job reads, checks and may write; it waits its turn on each of them. */
  readonly records: readonly Deno.KvKey[];
  /** Upper bounds of what plan() adds besides its records, so that a group fits by construction. */
  readonly cost: { checks: number; mutations: number; bytes: number };
  /**
   * Decides, synchronously and without side effects, what is written, and returns the result.
   * Called again for each attempt.
   * @throws RelayError to refuse; nothing of the job is then written
   */
  plan(turn: Turn): T;
  /** Key of a row that plan() writes with {attempt: turn.attempt}: tells whether an unclear commit was ours. */
  readonly proof: Deno.KvKey;
  /** Run before a retry and before a refusal on a shared store: a result that another process stored already, or undefined. */
  settle?(): Promise<T | undefined>;
  /** Run once after the commit, before the caller hears of it: what memory learns from it. */
  committed?(result: T): void;
}

/** What plan() may do. Rows are written blindly; records are read, checked and written. */
export interface Turn {
  readonly nowMs: number;
  /** Random id of this attempt. */
  readonly attempt: string;
  /** A record of the job, as earlier jobs of the group left it. */
  record<R>(key: Deno.KvKey): R | null;
  /** Versionstamp of the record as last committed, null where absent. */
  versionOf(key: Deno.KvKey): string | null;
  /** Whether an earlier job of this group has changed the record. */
  changedInGroup(key: Deno.KvKey): boolean;
  /** Replaces a record of the job, for good or for a time; null deletes it. */
  putRecord(key: Deno.KvKey, value: unknown, expireInMs?: number): void;
  /** The commit fails unless the row is absent. Two jobs that name one row must share a record too. */
  requireAbsent(key: Deno.KvKey): void;
  set(key: Deno.KvKey, value: unknown, expireInMs?: number): void;
  delete(key: Deno.KvKey): void;
  /** Adds to a KvU64 counter that never expires. */
  sum(key: Deno.KvKey, amount: bigint): void;
  /** The smallest message id above `above` that this process may give. */
  allocateId(above: number): number;
}

/** Thrown by plan(): the job's own reads are outdated; submit() rejects with it and the caller reads again. */
export class Outdated extends Error {}

/** Rows that are written once a group for all its jobs: folded counters, wake-up marks. */
export type GroupAnnotation = (results: readonly unknown[], turn: Turn) => void;

interface Pending {
  job: Job<unknown>;
  names: string[];
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  failures: number;
  /** Retries alone after a conflict of its own. */
  alone: boolean;
  /** Its records were read from the store for this decision: a refusal is final. */
  verified: boolean;
}

const MAX_FAILURES = 12;

export interface GroupCommitOptions {
  store: Store;
  records: RecordCache;
  ids: IdSequence;
  annotate?: GroupAnnotation;
  /** Jobs that may wait; beyond it callers hear 503 `unavailable` at once. */
  maxWaiting?: number;
}

export class GroupCommit {
  readonly #store: Store;
  readonly #records: RecordCache;
  readonly #ids: IdSequence;
  readonly #annotations: GroupAnnotation[] = [];
  readonly #maxWaiting: number;
  #waiting: Pending[] = [];
  #inFlight = 0;
  #preparing = 0;
  #scheduled = false;
  #idle: (() => void)[] = [];
  /** Commits made, for figures and tests. */
  readonly counts = { groups: 0, jobs: 0, conflicts: 0 };

  constructor(options: GroupCommitOptions) {
    this.#store = options.store;
    this.#records = options.records;
    this.#ids = options.ids;
    this.#maxWaiting = options.maxWaiting ?? 10_000;
    if (options.annotate) this.#annotations.push(options.annotate);
  }

  /** Adds rows that every group writes for the results of its jobs. Call before the first job. */
  annotateGroups(annotation: GroupAnnotation): void {
    this.#annotations.push(annotation);
  }

  /**
   * Commits a job together with whatever else is waiting.
   * @returns what plan() returned, after the commit that holds it
   * @throws what plan() threw; RelayError `unavailable` when the queue is full or retries are used up
   */
  async submit<T>(job: Job<T>): Promise<T> {
    if (this.#waiting.length + this.#preparing >= this.#maxWaiting) throw overloaded();
    const names = job.records.map(recordName);
    const missing = job.records.filter((_, i) => this.#records.peek(names[i]!) === undefined);
    if (missing.length > 0) {
      this.#preparing++;
      try {
        await Promise.all(missing.map((key) => this.#records.load(key)));
      } finally {
        this.#preparing--;
        queueMicrotask(() => this.#wakeIdle());
      }
    }
    return await new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        job: job as Job<unknown>,
        names,
        resolve: resolve as (value: unknown) => void,
        reject,
        failures: 0,
        alone: false,
        verified: this.#store.exclusive,
      });
      this.#schedule();
    });
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drained(): Promise<void> {
    while (this.#waiting.length + this.#inFlight + this.#preparing > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#form();
    });
  }

  #form(): void {
    while (this.#waiting.length > 0 && this.#inFlight < this.#store.capacity.groupsInFlight) {
      if (!this.#ids.ready(this.#store.now())) {
        this.#restoreIds();
        return;
      }
      const group = this.#takeGroup();
      if (group === null) {
        if (this.#ids.ready(this.#store.now())) break;
        continue; // a job needs an id above the ceiling
      }
      this.#inFlight++;
      void this.#commit(group).finally(() => {
        this.#inFlight--;
        this.#schedule();
        this.#wakeIdle();
      });
    }
    this.#wakeIdle();
  }

  #wakeIdle(): void {
    if (this.#waiting.length + this.#inFlight + this.#preparing > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Ids stop at their ceiling, and without their lease: no group leaves until both are renewed. */
  #restoreIds(): void {
    this.#inFlight++;
    void this.#ids.restore().catch((error) => {
      const refused = this.#waiting.splice(0);
      for (const pending of refused) pending.reject(unavailable(error));
    }).finally(() => {
      this.#inFlight--;
      this.#schedule();
    });
  }

  /** The longest prefix of the queue that fits one commit, skipping jobs whose records are held. */
  #takeGroup(): PlanGroup<Pending> | null {
    const group = new PlanGroup<Pending>(this.#store, this.#records, this.#ids);
    const held = new Set<string>();
    const left: Pending[] = [];
    const queue = this.#waiting;
    let at = 0;
    for (; at < queue.length; at++) {
      const pending = queue[at]!;
      const hold = () => {
        for (const name of pending.names) held.add(name);
        left.push(pending);
      };
      if (pending.names.some((name) => held.has(name))) {
        hold();
        continue;
      }
      const entries: (RecordEntry | undefined)[] = pending.names.map((n) => this.#records.peek(n));
      if (entries.includes(undefined)) {
        this.#reload(pending);
        continue;
      }
      if (entries.some((entry) => entry!.locked)) {
        hold();
        continue;
      }
      if (pending.alone && group.members.length > 0) {
        hold();
        continue;
      }
      if (!group.fits(pending.job, pending.names)) break;
      const turn = new JobTurn(group, pending.names);
      try {
        const result = pending.job.plan(turn);
        group.add(pending, result, turn);
      } catch (error) {
        // Decided on a state that is not committed yet, or waiting for a higher ceiling.
        if (turn.sawStaged || error instanceof CeilingReached) hold();
        else this.#refuse(pending, error);
        continue;
      }
      if (pending.alone) {
        at++;
        break;
      }
    }
    this.#waiting = left.concat(queue.slice(at));
    if (group.members.length === 0) return null;
    const results = group.members.map((member) => member.result);
    for (const annotate of this.#annotations) {
      const turn = new JobTurn(group, []);
      annotate(results, turn);
      group.addRows(turn);
    }
    group.lock();
    return group;
  }

  /** Reads again what a job needs and puts it back in the queue. */
  #reload(pending: Pending): void {
    this.#preparing++;
    Promise.all(pending.job.records.map((key) => this.#records.load(key)))
      .then(() => {
        this.#waiting.push(pending);
      }, pending.reject)
      .finally(() => {
        this.#preparing--;
        this.#schedule();
        this.#wakeIdle();
      });
  }

  /** A refusal from memory that others may have outdated is decided again on what the store holds. */
  #refuse(pending: Pending, error: unknown): void {
    if (pending.verified || error instanceof Outdated) {
      pending.reject(error);
      return;
    }
    pending.verified = true;
    for (const name of pending.names) {
      if (this.#records.peek(name)?.locked === false) this.#records.evict(name);
    }
    this.#retry(pending);
  }

  /** Asks whether another process has answered the job already; else queues it again. */
  #retry(pending: Pending): void {
    this.#preparing++;
    Promise.resolve(pending.job.settle?.())
      .then((settled) => {
        if (settled === undefined) this.#reload(pending);
        else pending.resolve(settled);
      })
      .catch(pending.reject)
      .finally(() => {
        this.#preparing--;
        this.#schedule();
        this.#wakeIdle();
      });
  }

  async #commit(group: PlanGroup<Pending>): Promise<void> {
    this.counts.groups++;
    this.counts.jobs += group.members.length;
    let failure: unknown = null;
    let versionstamp: string | null = null;
    try {
      const outcome = await retryWhileLocked(() => group.operation().commit());
      if (outcome.ok) versionstamp = outcome.versionstamp;
    } catch (error) {
      failure = error;
    }
    versionstamp ??= await this.#proven(group, failure);
    if (versionstamp !== null) {
      group.succeed(versionstamp);
      for (const { pending, result } of group.members) {
        try {
          pending.job.committed?.(result);
        } finally {
          pending.resolve(result);
        }
      }
      return;
    }
    this.counts.conflicts++;
    await this.#recover(group, failure);
  }

  /** The versionstamp of a commit that was reported as failed and yet holds our attempt id, or null. */
  async #proven(group: PlanGroup<Pending>, failure: unknown): Promise<string | null> {
    if (isDatabaseLocked(failure)) return null;
    try {
      const { proof } = group.members[0]!.pending.job;
      const row = await retryWhileLocked(() => this.#store.kv.get<{ attempt?: string }>(proof));
      return row.value?.attempt === group.attempt ? row.versionstamp : null;
    } catch {
      return null;
    }
  }

  /** After a failed commit: jobs whose own records changed retry alone, the others together again. */
  async #recover(group: PlanGroup<Pending>, failure: unknown): Promise<void> {
    group.fail();
    this.#ids.doubt();
    const changed = await this.#changedRecords(group).catch(() => null);
    const repeats = Math.max(...group.members.map(({ pending }) => pending.failures));
    if (repeats > 1) {
      const boundMs = 4 * 2 ** Math.min(repeats, 5);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * boundMs));
    }
    for (const { pending } of group.members) {
      pending.failures++;
      pending.verified = true;
      if (pending.failures > MAX_FAILURES || (failure !== null && pending.failures > 3)) {
        pending.reject(unavailable(failure));
        continue;
      }
      const conflicting = changed === null || pending.names.some((name) => changed.has(name));
      // No record changed: a row that had to be absent is there. Nobody but the job itself can tell.
      pending.alone = conflicting || changed.size === 0;
      this.#retry(pending);
    }
  }

  async #changedRecords(group: PlanGroup<Pending>): Promise<Set<string>> {
    const changed = new Set<string>();
    await Promise.all(
      [...group.checkedVersions()].map(async ([name, { key, versionstamp }]) => {
        const entry = await this.#records.load(key);
        if (entry.versionstamp !== versionstamp) changed.add(name);
      }),
    );
    return changed;
  }
}

function overloaded(): RelayError {
  return new RelayError(
    "unavailable",
    "the relay has more writes waiting than it can take; nothing was stored; send the same request again after Retry-After",
    { retryAfterMs: 1000 },
  );
}

function unavailable(cause: unknown): RelayError {
  return new RelayError(
    "unavailable",
    "the store did not take the write; repeat the same request (same bytes, same signature) after Retry-After: it is stored at most once",
    { retryAfterMs: 1000, cause },
  );
}
