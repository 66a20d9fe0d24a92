/**
 * The queue of jobs before a commit. It bounds how many are admitted and how long they may wait. It
 * also holds the jobs that wait for a record of an uncommitted group.
 */
import { RelayError } from "../../errors.ts";
import { type Job, JOB_BYTES, type Planned } from "./job.ts";
import type { RecordKey } from "./record_key.ts";

/** An attempt of a job that failed, and what it would have come to. */
export interface Tried extends Planned {
  attempt: string;
}

/** What a job rests on, read before its plan. */
export interface Prepared {
  value: unknown;
  /** Records that were read for it, with their versionstamps. */
  reads: ReadonlyMap<RecordKey<unknown>, string | null>;
  /** Attempts of the job, those as it was prepared before among them. */
  tried?: Tried[];
}

/** A job and its state. */
export interface Pending {
  readonly job: Job<unknown, unknown>;
  readonly prepared: Prepared;
  readonly sizeBytes: number;
  /** Its records by name: those that it names itself, and those that its plan has asked for. */
  readonly records: Map<string, RecordKey<unknown>>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** When it was admitted, on the monotonic clock. */
  readonly sinceMs: number;
  failures: number;
  /** Failures in a row for which the store threw. */
  errors: number;
  /** Set once the job failed: it then travels only with jobs that failed for the same cause. */
  apart: string | null;
  /**
   * Its records that were read from the store for this decision: a refusal that rests on these alone is
   * final. Null where memory is always right.
   */
  readonly verified: Set<string> | null;
  /** Attempts that failed with an unknown outcome. */
  readonly tried: Tried[];
  /** `RecordCache.reads` when the store was last asked for them. */
  lookedAt: number;
  /** The record that it waited for last, and how often that was another one than before. */
  parkedOn: string | null;
  detours: number;
  /** The caller has its answer. */
  answered: boolean;
}

export interface QueueBounds {
  /** Jobs that may be admitted at the same time. */
  jobs: number;
  /** Bytes of all admitted jobs, as the jobs state them. */
  bytes: number;
  /**
   * No new job is admitted while answers take this long, or when no answer was given for this long.
   */
  refuseAfterMs: number;
  /**
   * How long a job is tried again that meets a conflict each time: a ban must succeed in the end.
   */
  retryForMs: number;
  /** A job that has been waiting this long is refused itself. */
  giveUpAfterMs: number;
  /** How often waiting jobs are checked for that. */
  checkEveryMs: number;
}

/**
 * 10,000 jobs are two seconds of sends. 64 MiB of jobs stand for some 200 MiB of memory with the
 * requests behind them. A client that waits for more than seconds has usually gone. A job is given up
 * so early that its caller has 503 within 15 s: the check may come a second late, and a route may look
 * for what it refuses (CallDeadline).
 */
export const QUEUE_BOUNDS: QueueBounds = {
  jobs: 10_000,
  bytes: 64 * 1024 * 1024,
  refuseAfterMs: 5_000,
  retryForMs: 4_000,
  giveUpAfterMs: 12_000,
  checkEveryMs: 1_000,
};

/** How often a job may be overtaken while it waits for one of its records after the other. */
const DETOURS = 4;

export class JobQueue {
  /** In the order of admission. */
  readonly #admitted = new Set<Pending>();
  #admittedBytes = 0;
  /** When the last answer was given, or the first job was admitted after nothing had waited. */
  #answeredMs = 0;
  /** How long that job had waited. */
  #latestWaitMs = 0;
  #waiting: Pending[] = [];
  readonly #parked = new Map<string, Pending[]>();
  /** Records of parked jobs that were overtaken often, each with the record that is waited for. */
  readonly reserved = new Map<string, string>();
  #stallTimer: ReturnType<typeof setTimeout> | undefined;
  #idle: (() => void)[] = [];

  constructor(
    private readonly bounds: QueueBounds = QUEUE_BOUNDS,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Admitted jobs that have no answer yet. */
  get size(): number {
    return this.#admitted.size;
  }

  /** @throws RelayError `unavailable` when too many jobs or bytes wait */
  admit(
    job: Job<unknown, unknown>,
    given: Pick<Pending, "prepared" | "records" | "resolve" | "reject" | "verified">,
  ): Pending {
    const nowMs = this.now();
    const { sizeBytes: size = JOB_BYTES } = job;
    const sizeBytes = typeof size === "number" ? size : size(given.prepared.value);
    if (this.#admitted.size === 0) {
      this.#answeredMs = nowMs;
      this.#latestWaitMs = 0;
    } else if (this.#isOverloaded(sizeBytes, nowMs)) throw overloaded();
    const pending: Pending = {
      job,
      sizeBytes,
      ...given,
      sinceMs: nowMs,
      failures: 0,
      errors: 0,
      apart: null,
      parkedOn: null,
      detours: 0,
      tried: given.prepared.tried ?? [],
      lookedAt: 0,
      answered: false,
    };
    this.#admitted.add(pending);
    this.#admittedBytes += sizeBytes;
    this.#stallTimer ??= setTimeout(() => this.#giveUpStalled(), this.bounds.checkEveryMs);
    return pending;
  }

  #isOverloaded(sizeBytes: number, nowMs: number): boolean {
    const { jobs, bytes, refuseAfterMs } = this.bounds;
    // Measured by answers, not by the oldest job: a single job that hangs must not keep all others
    // out.
    return this.#admitted.size >= jobs || this.#admittedBytes + sizeBytes > bytes ||
      this.#latestWaitMs > refuseAfterMs || nowMs - this.#answeredMs > refuseAfterMs;
  }

  /** Tells whether a job that is prepared again may be tried again, from now on. */
  patience(): () => boolean {
    const untilMs = this.now() + this.bounds.giveUpAfterMs;
    return () => this.now() < untilMs;
  }

  /** Whether a job has waited for as long as conflicts are tried again. */
  isLongDue({ sinceMs }: Pending): boolean {
    return this.now() - sinceMs >= this.bounds.retryForMs;
  }

  /** Gives the caller its result, once. */
  resolve(pending: Pending, result: unknown): void {
    if (this.#end(pending)) pending.resolve(result);
  }

  /** Gives the caller its refusal, once. */
  reject(pending: Pending, error: unknown): void {
    if (this.#end(pending)) pending.reject(error);
  }

  #end(pending: Pending): boolean {
    if (pending.answered) return false;
    pending.answered = true;
    this.#admitted.delete(pending);
    this.#admittedBytes -= pending.sizeBytes;
    this.#answeredMs = this.now();
    this.#latestWaitMs = this.#answeredMs - pending.sinceMs;
    if (this.#admitted.size === 0) {
      clearTimeout(this.#stallTimer);
      this.#stallTimer = undefined;
      for (const wake of this.#idle.splice(0)) wake();
    }
    return true;
  }

  /** Resolves when every admitted job has an answer. */
  async drained(): Promise<void> {
    while (this.#admitted.size > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  /** Whether a group could be formed. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  push(pending: Pending): void {
    if (!pending.answered) this.#waiting.push(pending);
  }

  /** Gives the waiting jobs in order; those that are not taken come back through putBack(). */
  takeWaiting(): Pending[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  /** Puts jobs at the front, before what was pushed meanwhile. */
  putBack(jobs: readonly Pending[]): void {
    this.#waiting = this.#waiting.length === 0 ? [...jobs] : [...jobs, ...this.#waiting];
  }

  /**
   * The job waits until the named record, which an uncommitted group holds, is released. Where others
   * hold one of its records after the other, all of them are reserved for it until then.
   */
  park(recordName: string, pending: Pending): void {
    const parked = this.#parked.get(recordName);
    if (parked === undefined) this.#parked.set(recordName, [pending]);
    else parked.push(pending);
    if (pending.parkedOn !== recordName) pending.detours++;
    pending.parkedOn = recordName;
    if (pending.detours <= DETOURS) return;
    for (const name of pending.records.keys()) {
      if (!this.reserved.has(name)) this.reserved.set(name, recordName);
    }
  }

  /**
   * Records that a group held are free: the jobs that wait for them come first in the queue again.
   */
  release(recordNames: Iterable<string>): void {
    const released: Pending[] = [];
    for (const name of recordNames) {
      const parked = this.#parked.get(name);
      if (parked === undefined) continue;
      this.#parked.delete(name);
      for (const pending of parked) if (!pending.answered) released.push(pending);
      for (const [reserved, lockedRecord] of this.reserved) {
        if (lockedRecord === name) this.reserved.delete(reserved);
      }
    }
    if (released.length > 0) this.putBack(released);
  }

  /** The caller gets 503, and does not hear whether an attempt may yet be stored. */
  giveUp(pending: Pending, cause: unknown): void {
    this.reject(pending, unavailable(cause));
  }

  /**
   * A store that hangs must not hold callers for ever: they get 503, and a late commit does no
   * harm.
   */
  #giveUpStalled(): void {
    const nowMs = this.now();
    for (const pending of [...this.#admitted]) {
      if (nowMs - pending.sinceMs < this.bounds.giveUpAfterMs) break;
      this.giveUp(pending, new Error("no commit in time"));
    }
    this.#stallTimer = this.#admitted.size === 0
      ? undefined
      : setTimeout(() => this.#giveUpStalled(), this.bounds.checkEveryMs);
  }
}

/** What the queue itself answers, in place of the job: 503 `unavailable`. */
export class NotTaken extends RelayError {
  constructor(message: string, cause?: unknown) {
    super("unavailable", message, { retryAfterMs: 1000, cause });
  }
}

function overloaded(): NotTaken {
  return new NotTaken(
    "the relay has more writes waiting than it can take; nothing was stored; send the same request again after Retry-After",
  );
}

/** The store did not take a write, or it is unknown whether it did. */
export function unavailable(cause: unknown): NotTaken {
  return new NotTaken(
    "the store did not take the write; repeat the same request (same bytes, same signature) after Retry-After: it is stored at most once",
    cause,
  );
}
