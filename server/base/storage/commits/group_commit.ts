// Over 300 lines: the one place where groups are formed, committed, and tried again.
/**
 * Group commit: jobs of concurrent callers are stored in one atomic operation. The store pays one
 * transaction and one fsync for each operation, however much it carries.
 *
 * What keeps it correct:
 * - What a job reads is what its commit checks: on a shared store the versionstamp of each record; on an
 *   exclusive one memory is right, and its locks keep others out. A record in an uncommitted group
 *   enters no other group.
 * - Memory changes only after a commit has succeeded. A failed or unclear one drops every record it
 *   touched from memory. Each retry plans again, on freshly read records and with new message ids.
 * - The first group leaves at once (a microtask later). Groups grow only while the store is busy. A
 *   timer would cost a lone caller most of its rate.
 * - A commit can be reported as failed after it succeeded. An exclusive store finds out before it
 *   answers (`journal/journal.ts`); on a shared one each commit writes an attempt row that tells
 *   (`attempt.ts`), where it may still come a little later.
 */
import { RelayError } from "../../errors.ts";
import { NoAnswer } from "../rows/call_deadline.ts";
import { attemptKey } from "../rows/attempt.ts";
import { formGroup, type Forming } from "./form_group.ts";
import type { IdSequence } from "./id_sequence.ts";
import { type GroupAnnotation, type Job, Outdated, type Planned, type Transaction } from "./job.ts";
import {
  JobQueue,
  NotTaken,
  type Pending,
  type Prepared,
  type QueueBounds,
  type Tried,
  unavailable,
} from "./job_queue.ts";
import type { PlanGroup } from "./plan_group.ts";
import { type RecordCache, recordName } from "./record_cache.ts";
import type { RecordKey } from "./record_key.ts";
import type { Store } from "../rows/store.ts";

export * from "./job.ts";

/** How often a job may fail, each time planned on fresh records, before its caller may get 503. */
const MAX_FAILURES = 16;
/** How often in a row the store may throw for a job before its caller gets 503. */
const MAX_ERRORS = 3;
const MAX_PAUSE_MS = 128;
/** How often a job is prepared again at once. */
const QUICK_ROUNDS = 8;

export interface GroupCommitOptions {
  store: Store;
  records: RecordCache;
  ids: IdSequence;
  /** How many jobs may wait, and for how long; beyond that callers get 503 `unavailable`. */
  bounds?: QueueBounds;
  /** Called for commits that the store failed, not for conflicts. */
  onFailure?: (error: unknown) => void;
  /** Called for what a job's committed() or a listener has thrown: its commit is made all the same. */
  onUnheard: (error: unknown) => void;
}

export class GroupCommit {
  readonly #store: Store;
  readonly #records: RecordCache;
  readonly #ids: IdSequence;
  readonly #annotations: GroupAnnotation[] = [];
  readonly #listeners = new Map<string, (what: unknown) => void>();
  readonly #forming: Forming;
  readonly #queue: JobQueue;
  readonly #onFailure: (error: unknown) => void;
  readonly #onUnheard: (error: unknown) => void;
  #inFlight = 0;
  #scheduled = false;
  #restoring = false;
  #causes = 0;
  /** Commits made, for figures and tests. */
  readonly counts = { groups: 0, jobs: 0, conflicts: 0 };

  constructor(options: GroupCommitOptions) {
    this.#store = options.store;
    this.#records = options.records;
    this.#ids = options.ids;
    this.#queue = new JobQueue(options.bounds);
    this.#onFailure = options.onFailure ?? (() => {});
    this.#onUnheard = options.onUnheard;
    this.#forming = {
      store: this.#store,
      records: this.#records,
      ids: this.#ids,
      queue: this.#queue,
      annotations: this.#annotations,
      // Later: what is read may push a record out of memory that the group being formed does not lock yet.
      reload: (pending) => queueMicrotask(() => void this.#reload(pending)),
      look: (pending) => queueMicrotask(() => void this.#retry(pending)),
      refuse: (pending, error) => this.#refuse(pending, error),
    };
  }

  /** Adds rows that every group writes for its jobs' results. Call it before the first job. */
  annotateGroups<R>(annotation: GroupAnnotation<R>): void {
    this.#annotations.push(annotation as GroupAnnotation);
  }

  /**
   * Registers a topic's one listener for what plans announce: called once the commit is made, before its
   * caller has the answer.
   */
  listen(topic: string, listener: (what: unknown) => void): void {
    this.#listeners.set(topic, listener);
  }

  /** Jobs that are admitted and not yet answered. */
  get pending(): number {
    return this.#queue.size;
  }

  /**
   * Commits a job together with the other jobs that wait.
   * @param job or its plan, where it has nothing else to say
   * @returns what plan() returned, after the commit that holds it
   * @throws TypeError for undeclared records; what prepare() and plan() threw; RelayError `unavailable` when the queue is full, retries are used up, or the clock cannot be relied on
   */
  submit<T, P = void>(job: Job<T, P> | ((transaction: Transaction) => T)): Promise<T> {
    if (typeof job === "function") return this.#admit<T, void>({ plan: job }, UNPREPARED);
    if (job.prepare !== undefined) return this.#submitPrepared(job, job.prepare);
    return this.#admit(job, UNPREPARED);
  }

  async #submitPrepared<T, P>(
    job: Job<T, P>,
    prepare: NonNullable<Job<T, P>["prepare"]>,
  ): Promise<T> {
    const tried: Tried[] = [];
    const mayTryAgain = this.#queue.patience();
    let rounds = 0;
    for (;;) {
      const reads = new Map<RecordKey<unknown>, string | null>();
      try {
        const value = await prepare.call(job, {
          get: async <R>(key: RecordKey<R>) => {
            // On an exclusive store memory is right.
            const row =
              await (this.#store.exclusive ? this.#records.load(key) : this.#records.readAnew(key));
            // Read before, and changed since: nothing may rest on what it was then.
            if (reads.has(key) && reads.get(key) !== row.versionstamp) throw new Outdated();
            reads.set(key, row.versionstamp);
            return row.value as R | null;
          },
        });
        return await this.#admit(job, { value, reads, tried });
      } catch (error) {
        if (error instanceof NotTaken) throw tried.length === 0 ? error : unavailable(error);
        // An attempt may have come late, also where prepare() refuses: it may be what it was refused for.
        const stored = await this.#findStored(tried).catch(() => null);
        if (stored) {
          this.#follow(job as Job<unknown, unknown>, stored);
          return stored.result as T;
        }
        if (stored === null) throw unavailable(error);
        if (!(error instanceof Outdated)) throw error;
        if (!mayTryAgain()) throw unavailable(error);
        // Others change the record time and again: a pause lets them come to an end.
        if (++rounds > QUICK_ROUNDS) {
          await pause(Math.min(MAX_PAUSE_MS, 2 ** (rounds - QUICK_ROUNDS)));
        }
      }
    }
  }

  #admit<T, P>(job: Job<T, P>, prepared: Prepared): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const records = new Map<string, RecordKey<unknown>>();
      for (const key of job.records ?? []) records.set(recordName(key), key);
      for (const key of prepared.reads.keys()) records.set(recordName(key), key);
      const pending = this.#queue.admit(job as Job<unknown, unknown>, {
        prepared,
        records,
        resolve: resolve as (value: unknown) => void,
        reject,
        verified: this.#store.exclusive ? null : new Set(),
      });
      const isMissing = (name: string) => this.#records.peek(name) === undefined;
      if (records.keys().some(isMissing)) void this.#reload(pending);
      else {
        this.#queue.push(pending);
        this.#schedule();
      }
    });
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drained(): Promise<void> {
    while (this.#queue.size > 0 || this.#inFlight > 0) {
      await this.#queue.drained();
      if (this.#inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 1));
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
    const { groupsInFlight } = this.#store.capacity;
    while (this.#queue.hasWaiting && this.#inFlight < groupsInFlight && !this.#restoring) {
      if (!this.#ids.ready(this.#store.now())) {
        this.#restoreIds();
        return;
      }
      const group = formGroup(this.#forming);
      if (group === null) {
        if (this.#ids.ready(this.#store.now())) return;
        continue; // a job needs an id above the ceiling
      }
      this.#inFlight++;
      void this.#commit(group).finally(() => {
        this.#inFlight--;
        this.#schedule();
      });
    }
  }

  /** Ids end at the ceiling or with the lease. No group leaves until both are renewed. */
  #restoreIds(): void {
    this.#restoring = true;
    this.#ids.restore().catch((error) => {
      for (const pending of this.#queue.takeWaiting()) void this.#giveUp(pending, error);
    }).finally(() => {
      this.#restoring = false;
      this.#schedule();
    });
  }

  /** Reads in parallel what the jobs need, and puts them in the queue. */
  async #reload(...jobs: Pending[]): Promise<void> {
    await Promise.all(jobs.map(async (pending) => {
      try {
        const keys = [...pending.records.values()];
        await Promise.all(keys.map((key) => this.#records.load(key)));
      } catch (error) {
        await this.#giveUp(pending, error);
      }
    }));
    for (const pending of jobs) this.#queue.push(pending);
    this.#schedule();
  }

  /** Decides a refusal again on what the store holds, if memory may be outdated. */
  #refuse(pending: Pending, error: unknown): void {
    const { verified } = pending;
    const doubted = verified === null
      ? []
      : [...pending.records.keys()].filter((name) =>
        error instanceof Outdated || !verified.has(name)
      );
    for (const name of doubted) {
      this.#records.evict(name);
      verified!.add(name);
    }
    if (doubted.length > 0 && !(error instanceof Outdated)) void this.#retry(pending);
    else void this.#reject(pending, error);
  }

  /** The caller gets 503, or the error that the job itself has thrown. */
  async #giveUp(pending: Pending, error: unknown): Promise<void> {
    if (pending.answered) return;
    const isAnswer = error instanceof RelayError && !(error instanceof NoAnswer);
    if (isAnswer || error instanceof Outdated) await this.#reject(pending, error);
    else this.#queue.giveUp(pending, error);
  }

  /** Refuses a job, unless an attempt of it that came late is what it was refused for. */
  async #reject(pending: Pending, error: unknown): Promise<void> {
    try {
      const stored = await this.#findStored(pending.tried);
      if (stored !== undefined) this.#succeed(pending, stored);
      else this.#queue.reject(pending, error);
    } catch (cause) {
      this.#queue.giveUp(pending, cause);
    }
  }

  /** Queues jobs again, all together, except those that turn out to be stored already. */
  async #retry(...jobs: Pending[]): Promise<void> {
    const open = await Promise.all(jobs.map((pending) => this.#isOpen(pending)));
    await this.#reload(...jobs.filter((_, i) => open[i]));
  }

  /** False once an unclear attempt, or another process, has stored the job. */
  async #isOpen(pending: Pending): Promise<boolean> {
    if (pending.answered) return false; // given up meanwhile
    try {
      const { job, tried } = pending;
      pending.lookedAt = this.#records.reads;
      const stored = await this.#findStored(tried);
      if (stored !== undefined) {
        this.#succeed(pending, stored);
        return false;
      }
      const found = await job.findResult?.();
      if (found !== undefined) this.#queue.resolve(pending, found);
    } catch (error) {
      await this.#giveUp(pending, error);
    }
    return !pending.answered;
  }

  /** The first of these attempts that now stands in the store. */
  async #findStored(tried: readonly Tried[]): Promise<Tried | undefined> {
    for (const one of tried) if (await this.#versionOf(one.attempt) !== null) return one;
    return undefined;
  }

  async #versionOf(attempt: string): Promise<string | null> {
    return (await this.#store.get(attemptKey(attempt))).versionstamp;
  }

  #succeed(pending: Pending, planned: Planned): void {
    this.#follow(pending.job, planned);
    this.#queue.resolve(pending, planned.result);
  }

  /** Has memory know what was committed. Where one throws, the others still hear of it. */
  #follow(job: Job<unknown, unknown>, { result, announced }: Planned): void {
    this.#tell(() => job.committed?.(result));
    for (const { topic, what } of announced) this.#tell(() => this.#listeners.get(topic)?.(what));
  }

  #tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#onUnheard(error);
    }
  }

  async #commit(group: PlanGroup): Promise<void> {
    const ended = this.#store.floor.enter(); // in the turn of the loop in which it was planned
    try {
      await this.#commitPlanned(group);
    } finally {
      ended();
    }
  }

  async #commitPlanned(group: PlanGroup): Promise<void> {
    this.counts.groups++;
    this.counts.jobs += group.members.length;
    let failure: unknown = null;
    let versionstamp: string | null = null;
    try {
      const { checks, writes } = group.operation();
      versionstamp = await this.#store.commit(checks, writes);
    } catch (error) {
      failure = error;
    }
    // An exclusive store knows what it has stored, a shared one may not.
    if (versionstamp === null && !this.#store.exclusive) {
      // Where it does not say either, each job asks again before its retry.
      versionstamp = await this.#versionOf(group.attempt).catch(() => null);
    }
    this.#end(group, versionstamp, failure);
  }

  /** @param versionstamp null where nothing was stored, or where the store does not tell */
  #end(group: PlanGroup, versionstamp: string | null, failure: unknown): void {
    if (versionstamp === null && !this.#store.exclusive) { // else nothing can come later
      for (const { pending, result, announced } of group.members) {
        pending.tried.push({ attempt: group.attempt, result, announced });
      }
    }
    if (versionstamp !== null) {
      group.succeed(versionstamp);
      this.#queue.release(group.entries.keys());
      for (const member of group.members) this.#succeed(member.pending, member);
      return;
    }
    this.counts.conflicts++;
    if (failure !== null) this.#onFailure(failure);
    group.fail();
    this.#queue.release(group.entries.keys());
    void this.#recover(group, failure); // its pause keeps no other group waiting
  }

  /** Tries the jobs of a failed commit again, apart from those that the failure did not concern. */
  async #recover(group: PlanGroup, failure: unknown): Promise<void> {
    const repeats = Math.max(...group.members.map(({ pending }) => pending.failures));
    if (repeats > 1) {
      await pause(Math.min(MAX_PAUSE_MS, 4 * 2 ** repeats));
    }
    // After the pause, since the retry is planned on what is read here.
    const changed = await group.changedRecords().catch(() => null);
    // No record explains the failure: the writer slot may have been taken over.
    if (changed === null || changed.size === 0) this.#ids.doubt();
    const again: Pending[] = [];
    for (const { pending } of group.members) {
      pending.failures++;
      pending.errors = failure === null ? 0 : pending.errors + 1;
      // Others among its records may be in memory as they were before it came.
      for (const name of group.entries.keys()) pending.verified?.add(name);
      const tooOften = pending.failures > MAX_FAILURES && this.#queue.isLongDue(pending);
      if (tooOften || pending.errors > MAX_ERRORS) {
        void this.#giveUp(pending, failure ?? new Error("too many conflicts"));
        continue;
      }
      const cause = pending.records.keys().find((name) => changed?.has(name));
      // No record explains it (a row had to be absent, a write was refused): each job goes alone.
      const unexplained = changed === null || changed.size === 0;
      pending.apart = cause ?? (unexplained ? `#${++this.#causes}` : null);
      again.push(pending);
    }
    void this.#retry(...again);
  }
}

/** Waits up to so long: those who met here are to go on at different times. */
function pause(boundMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * boundMs));
}

const UNPREPARED: Prepared = { value: undefined, reads: new Map() };
