// Over 300 lines: the one place where groups are formed, committed, and tried again.
/**
 * Group commit: jobs of concurrent callers are stored in one atomic operation. The store pays one
 * transaction and one fsync for each operation, however much it carries.
 *
 * What keeps it correct:
 * - Every job names the records it reads or writes. A record in an uncommitted group enters no
 *   other group. The commit checks the versionstamp of each record, on exclusive stores too; of
 *   deferred ones it checks there that its number in the journal is unused (`journal.ts`).
 * - Memory changes only after a commit has succeeded. A failed or unclear one drops every record it
 *   touched from memory. Each retry plans anew, on freshly read records and with new message ids.
 * - The first group leaves at once (a microtask later). Groups grow only while the store is busy. A
 *   timer would cost a lone caller most of its rate.
 * - Over a network a commit can be reported as failed after it succeeded. Each attempt therefore
 *   writes a random attempt id into its jobs' proof rows. Only that id means "mine".
 */
import { RelayError } from "../errors.ts";
import { NoAnswer } from "./call_deadline.ts";
import { findProven, proofOf, provenVersion } from "./attempt_proof.ts";
import { formGroup, type Forming } from "./form_group.ts";
import type { IdSequence } from "./id_sequence.ts";
import { type GroupAnnotation, type Job, Outdated } from "./job.ts";
import { JobQueue, type Pending, type QueueBounds } from "./job_queue.ts";
import type { Journal } from "./journal.ts";
import { retryWhileLocked } from "./lock_retry.ts";
import type { PlanGroup } from "./plan_group.ts";
import { type RecordCache, recordName } from "./record_cache.ts";
import { isRecordKey } from "./record_key.ts";
import type { Store } from "./store.ts";

export * from "./job.ts";

/** How often a job may fail, each time planned on fresh records, before its caller may get 503. */
const MAX_FAILURES = 16;
/** How often in a row the store may throw for a job before its caller gets 503. */
const MAX_ERRORS = 3;
const MAX_PAUSE_MS = 128;

export interface GroupCommitOptions {
  store: Store;
  records: RecordCache;
  ids: IdSequence;
  /** Where an exclusive store keeps deferred records first; null on a shared one. */
  journal: Journal | null;
  /** How many jobs may wait, and for how long; beyond that callers get 503 `unavailable`. */
  bounds?: QueueBounds;
  /** Called for commits that the store failed, not for conflicts. */
  onFailure?: (error: unknown) => void;
}

export class GroupCommit {
  readonly #store: Store;
  readonly #records: RecordCache;
  readonly #ids: IdSequence;
  readonly #annotations: GroupAnnotation[] = [];
  readonly #forming: Forming;
  readonly #queue: JobQueue;
  readonly #journal: Journal | null;
  readonly #onFailure: (error: unknown) => void;
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
    this.#journal = options.journal;
    this.#queue = new JobQueue(options.bounds);
    this.#onFailure = options.onFailure ?? (() => {});
    this.#forming = {
      store: this.#store,
      records: this.#records,
      ids: this.#ids,
      queue: this.#queue,
      annotations: this.#annotations,
      journal: this.#journal,
      reload: (pending) => void this.#reload(pending),
      refuse: (pending, error) => this.#refuse(pending, error),
    };
  }

  /** Adds rows that every group writes for its jobs' results. Call it before the first job. */
  annotateGroups(annotation: GroupAnnotation): void {
    this.#annotations.push(annotation);
  }

  /** Jobs that are admitted and not yet answered. */
  get pending(): number {
    return this.#queue.size;
  }

  /**
   * Commits a job together with the other jobs that wait.
   * @returns what plan() returned, after the commit that holds it
   * @throws TypeError for undeclared records; what plan() threw; RelayError `unavailable` when the queue is full, retries are used up, or the clock cannot be relied on
   */
  submit<T>(job: Job<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      for (const key of job.records) requireDeclared(key);
      const names = job.records.map(recordName);
      const verified = this.#store.exclusive;
      const caller = { names, resolve: resolve as (value: unknown) => void, reject, verified };
      const pending = this.#queue.admit(job as Job<unknown>, caller);
      if (names.some((name) => this.#records.peek(name) === undefined)) void this.#reload(pending);
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
      if (this.#journal?.isFull) {
        this.#awaitJournal(this.#journal);
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
      for (const pending of this.#queue.takeWaiting()) this.#giveUp(pending, error);
    }).finally(() => {
      this.#restoring = false;
      this.#schedule();
    });
  }

  /** No group leaves until records of former ones have been written to their rows. */
  #awaitJournal(journal: Journal): void {
    this.#restoring = true;
    void journal.room().finally(() => {
      this.#restoring = false;
      this.#schedule();
    });
  }

  /** Reads at one time what the jobs need, and puts them in the queue. */
  async #reload(...jobs: Pending[]): Promise<void> {
    await Promise.all(jobs.map(async (pending) => {
      try {
        await Promise.all(pending.job.records.map((key) => this.#records.load(key)));
      } catch (error) {
        this.#giveUp(pending, error);
      }
    }));
    for (const pending of jobs) this.#queue.push(pending);
    this.#schedule();
  }

  /** Decides a refusal again on what the store holds, if memory may be outdated. */
  #refuse(pending: Pending, error: unknown): void {
    if (!this.#store.exclusive && (!pending.verified || error instanceof Outdated)) {
      for (const name of pending.names) this.#records.evict(name);
    }
    if (pending.verified || error instanceof Outdated) {
      this.#queue.reject(pending, error);
      return;
    }
    pending.verified = true;
    void this.#retry(pending);
  }

  /** The caller gets 503, or the error that the job itself has thrown. */
  #giveUp(pending: Pending, error: unknown): void {
    if (pending.answered) return;
    const isAnswer = error instanceof RelayError && !(error instanceof NoAnswer);
    if (isAnswer || error instanceof Outdated) this.#queue.reject(pending, error);
    else this.#queue.giveUp(pending, error);
  }

  /** Queues jobs again, all at one time, except those that turn out to be stored already. */
  async #retry(...jobs: Pending[]): Promise<void> {
    const open = await Promise.all(jobs.map((pending) => this.#isOpen(pending)));
    await this.#reload(...jobs.filter((_, i) => open[i]));
  }

  /** False once an unclear attempt, or another process, has stored the job. */
  async #isOpen(pending: Pending): Promise<boolean> {
    if (pending.answered) return false; // given up meanwhile
    try {
      const { job, tried } = pending;
      const proven = await findProven(this.#store, tried);
      if (proven !== undefined) {
        this.#succeed(pending, proven.result);
        return false;
      }
      const settled = await job.settle?.();
      if (settled !== undefined) this.#queue.resolve(pending, settled);
    } catch (error) {
      this.#giveUp(pending, error);
    }
    return !pending.answered;
  }

  #succeed(pending: Pending, result: unknown): void {
    try {
      pending.job.committed?.(result);
    } finally {
      this.#queue.resolve(pending, result);
    }
  }

  async #commit(group: PlanGroup<Pending>): Promise<void> {
    const ended = this.#store.floor.enter(); // in the turn of the loop in which it was planned
    try {
      await this.#commitPlanned(group);
    } finally {
      ended();
    }
  }

  async #commitPlanned(group: PlanGroup<Pending>): Promise<void> {
    this.counts.groups++;
    this.counts.jobs += group.members.length;
    let failure: unknown = null;
    let versionstamp: string | null = null;
    try {
      const commit = () => retryWhileLocked(() => group.operation().commit());
      const outcome = await this.#store.attend(commit);
      if (outcome.ok) versionstamp = outcome.versionstamp;
    } catch (error) {
      failure = error;
    }
    let known = true;
    try {
      versionstamp ??= await this.#outcome(group);
    } catch {
      // Without a journal each job asks again before its retry.
      known = group.journalNumber === null;
    }
    // Synchronous: a job that is given up is always in a group or known to have been.
    for (const { pending, result } of group.members) {
      pending.travelling = null;
      if (versionstamp === null) pending.tried.push({ ...proofOf(pending.job, group), result });
    }
    if (versionstamp !== null) {
      this.#stored(group, versionstamp);
      return;
    }
    this.counts.conflicts++;
    if (failure !== null) this.#onFailure(failure);
    if (known) this.#fail(group, failure);
    else void this.#endWhenKnown(group, failure);
  }

  #fail(group: PlanGroup<Pending>, failure: unknown): void {
    group.fail();
    this.#queue.release(group.entries.keys());
    void this.#recover(group, failure); // its pause keeps no other group waiting
  }

  #stored(group: PlanGroup<Pending>, versionstamp: string): void {
    group.succeed(versionstamp);
    this.#queue.release(group.entries.keys());
    for (const { pending, result } of group.members) this.#succeed(pending, result);
  }

  /**
   * Keeps the records of a group until the store tells what it holds of them. Its callers wait, as
   * long as callers wait for a store that hangs.
   */
  async #endWhenKnown(group: PlanGroup<Pending>, failure: unknown): Promise<void> {
    const outcome = await this.#journal!.settleAtLast(group.journalNumber!, group.attempt);
    if (outcome === "unknown") { // the relay ends: the next start replays
      for (const { pending } of group.members) this.#giveUp(pending, failure);
    } else if (outcome === null) this.#fail(group, failure);
    else this.#stored(group, outcome);
    this.#schedule();
  }

  /**
   * The versionstamp of a commit that holds our attempt id though reported as failed, or null.
   * @throws whatever the store throws
   */
  async #outcome(group: PlanGroup<Pending>): Promise<string | null> {
    const { journalNumber, attempt } = group;
    if (journalNumber !== null) return await this.#journal!.settle(journalNumber, attempt);
    const proofs = group.members.map(({ pending }) => proofOf(pending.job, group));
    return await provenVersion(this.#store, proofs);
  }

  /** Tries the jobs of a failed commit again, apart from those that the failure did not concern. */
  async #recover(group: PlanGroup<Pending>, failure: unknown): Promise<void> {
    const repeats = Math.max(...group.members.map(({ pending }) => pending.failures));
    if (repeats > 1) {
      const boundMs = Math.min(MAX_PAUSE_MS, 4 * 2 ** repeats);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * boundMs));
    }
    // After the pause, since the retry is planned on what is read here.
    const changed = await group.changedRecords().catch(() => null);
    // No record explains the failure: the writer slot may have been taken over.
    if (changed === null || changed.size === 0) this.#ids.doubt();
    const again: Pending[] = [];
    for (const { pending } of group.members) {
      pending.failures++;
      pending.errors = failure === null ? 0 : pending.errors + 1;
      pending.verified = true;
      const tooOften = pending.failures > MAX_FAILURES && this.#queue.isLongDue(pending);
      if (tooOften || pending.errors > MAX_ERRORS) {
        this.#giveUp(pending, failure ?? new Error("too many conflicts"));
        continue;
      }
      const cause = pending.names.find((name) => changed?.has(name));
      // No record explains it (a row had to be absent, a write was refused): each job goes alone.
      const unexplained = changed === null || changed.size === 0;
      pending.apart = cause ?? (unexplained ? `#${++this.#causes}` : null);
      again.push(pending);
    }
    void this.#retry(...again);
  }
}

function requireDeclared(key: Deno.KvKey): void {
  if (isRecordKey(key)) return;
  throw new TypeError(`${recordName(key)} is no declared record: see defineRecord()`);
}
