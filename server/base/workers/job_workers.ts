/**
 * Jobs over bytes that strangers may have made, off the main thread: one worker or more, one job at a
 * time each, whose owners take turns (docs/adr/0027). Where no worker can be started the main thread
 * does the same work, in slices of a few ms.
 */
import { BoundedMap } from "../bounds/bounded_map.ts";
import { MINUTE_MS } from "../time/time_units.ts";
import { FairQueue, type FairQueueBounds, type QueuedJob } from "./fair_queue.ts";
import { runCopied } from "./run_copied.ts";
import {
  failedBy,
  type JobEnd,
  WorkerThread,
  type WorkerThreadBounds,
  type WorkerThreadServices,
} from "./worker_thread.ts";

/** Work that yields null where others may run, and else what it has found so far. */
export type JobSteps<Step, Result> =
  | Generator<Step | null, Result>
  | AsyncGenerator<Step | null, Result>;

export interface JobWorkersOptions<Job, Step, Result> extends WorkerThreadServices {
  /** A job's work on the main thread; its modules are better loaded when it is wanted. */
  here: (job: Job) => Promise<JobSteps<Step, Result>>;
  /** How many jobs are done at once, each in a worker of its own; one unless given. */
  workers?: number;
  bounds?: Partial<JobWorkersBounds>;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

export interface JobWorkersBounds extends FairQueueBounds, WorkerThreadBounds {
  /** Time limit of a job, from when the worker has it. */
  jobMs: number;
  /** The same for an owner who has had a job ended by it. */
  shortJobMs: number;
  /** How long an owner has the shorter one. */
  shortForMs: number;
}

const MIB = 1024 * 1024;
const BOUNDS = {
  jobMs: 5_000,
  shortJobMs: 1_000,
  shortForMs: 10 * MINUTE_MS,
  jobs: 512,
  bytes: 128 * MIB,
  ownerJobs: 128,
  ownerBytes: 64 * MIB,
};
/** Owners that were slow: beyond, those are forgotten that were so first. */
const MAX_OWNERS = 10_000;
/**
 * How long a job keeps the main thread where there are no workers: a slice of 20 ms at most, with what
 * is done between two moments at which it can be put aside.
 */
const SLICE_MS = 10;

/** Refused: there is no room for it in the queue. */
export type QueuedEnd<Result> = JobEnd<Result> | { type: "refused" };

export interface QueuedOptions<Step> extends QueuedJob {
  onStep?: (step: Step) => void;
}

interface WaitingJob<Job, Step, Result> extends QueuedOptions<Step> {
  job: Job;
  end: (end: QueuedEnd<Result>) => void;
}

export class JobWorkers<Job extends { raw: Uint8Array }, Step, Result> {
  readonly #options: JobWorkersOptions<Job, Step, Result>;
  readonly #bounds: Omit<JobWorkersBounds, keyof WorkerThreadBounds>;
  readonly #now: () => number;
  readonly #queue: FairQueue<WaitingJob<Job, Step, Result>>;
  readonly #workers: readonly WorkerThread<Job, Result, Step>[];
  readonly #free: WorkerThread<Job, Result, Step>[];
  /** When an owner was slow last. */
  readonly #slowAtMs = new BoundedMap<string, number>(MAX_OWNERS);
  #isClosed = false;

  constructor(options: JobWorkersOptions<Job, Step, Result>) {
    this.#options = options;
    this.#bounds = { ...BOUNDS, ...options.bounds };
    this.#now = options.now ?? (() => performance.now());
    this.#queue = new FairQueue(this.#bounds);
    // Without workers two jobs at once would have the main thread in slices twice as long.
    const length = options.start === null ? 1 : options.workers ?? 1;
    this.#workers = Array.from({ length }, () => new WorkerThread<Job, Result, Step>(options));
    this.#free = [...this.#workers];
  }

  /**
   * Does a job when it is its owner's turn. Never rejects.
   * @param job its bytes are not changed, and not to be changed until the promise settles
   */
  run(job: Job, options: QueuedOptions<Step>): Promise<QueuedEnd<Result>> {
    if (this.#isClosed) return Promise.resolve({ type: "closed" });
    const { promise, resolve: end } = Promise.withResolvers<QueuedEnd<Result>>();
    if (!this.#queue.add({ ...options, job, end })) return Promise.resolve({ type: "refused" });
    this.#next();
    return promise;
  }

  /** Ends the workers and all jobs. */
  close(): void {
    this.#isClosed = true;
    for (const worker of this.#workers) worker.close();
    for (let job = this.#queue.take(); job !== undefined; job = this.#queue.take()) {
      job.end({ type: "closed" });
    }
  }

  /** Begins the next job, unless all workers have one: with one that runs, before another is started. */
  async #next(): Promise<void> {
    const started = this.#free.findIndex(({ isStarted }) => isStarted);
    const [worker] = this.#queue.isEmpty ? [] : this.#free.splice(Math.max(0, started), 1);
    if (worker === undefined) return;
    const job = this.#queue.take()!;
    const end = await this.#do(job, worker);
    this.#queue.giveBack(job);
    this.#free.push(worker);
    if (end.type === "timed_out") this.#slowAtMs.set(job.owner, this.#now());
    this.#next();
    job.end(end);
  }

  async #do(
    { job, owner, onStep = () => {} }: WaitingJob<Job, Step, Result>,
    worker: WorkerThread<Job, Result, Step>,
  ): Promise<JobEnd<Result>> {
    const timeMs = this.#timeMsOf(owner);
    try {
      if (worker.isUsable) {
        const end = await runCopied(worker, job, { timeMs, onWord: onStep });
        if (end.type !== "no_worker") return end;
      }
      return await this.#doHere(job, timeMs, onStep);
    } catch (error) {
      return failedBy(error);
    }
  }

  #timeMsOf(owner: string): number {
    const { jobMs, shortJobMs, shortForMs } = this.#bounds;
    const sinceMs = this.#now() - (this.#slowAtMs.get(owner) ?? -Infinity);
    return sinceMs < shortForMs ? shortJobMs : jobMs;
  }

  async #doHere(job: Job, timeMs: number, onStep: (step: Step) => void): Promise<JobEnd<Result>> {
    let nowMs = this.#now();
    const untilMs = nowMs + timeMs;
    let sliceEndMs = nowMs + SLICE_MS;
    const steps = await this.#options.here(job);
    for (;;) {
      const step = await steps.next();
      if (this.#isClosed) return { type: "closed" };
      if (step.done === true) return { type: "result", result: step.value };
      if (step.value !== null) onStep(step.value);
      nowMs = this.#now();
      if (nowMs > untilMs) return { type: "timed_out" };
      if (nowMs < sliceEndMs) continue;
      await new Promise((resolve) => setTimeout(resolve));
      sliceEndMs = this.#now() + SLICE_MS;
    }
  }
}
