/**
 * The life of one worker and of the jobs in it (docs/adr/0027): started when it is first wanted, ended
 * when a job's time is over, when it does not answer, or when it has had nothing to do. What becomes
 * of a job that has no worker is for its caller to say.
 */
import { startIntervalTicker, type StartTicker } from "../time/ticker.ts";
import { MINUTE_MS } from "../time/time_units.ts";
import type { RunningWorker, StartWorker } from "./start_worker.ts";

/** What goes to the worker: a job, a word about one, or the question whether it is there. */
export type ToWorker<Job, Word> = { id: number; job: Job } | { word: Word } | "ping";

/** What comes back: once that it takes jobs, then of each job its words and its end. */
export type FromWorker<Result, Word> =
  | "ready"
  | "pong"
  | { id: number; word: Word }
  | { id: number; result: Result }
  | { id: number; failed: string };

export type JobEnd<Result> =
  | { type: "result"; result: Result }
  /** By an error of this name. */
  | { type: "failed"; reason: string }
  | { type: "timed_out" }
  /** Its worker has ended with the job in it. */
  | { type: "lost" }
  /** There is no worker, and the job was in none. */
  | { type: "no_worker" }
  | { type: "closed" };

/** @param error what a job threw; its words may be a stranger's */
export function failedBy(error: unknown): { type: "failed"; reason: string } {
  return { type: "failed", reason: error instanceof Error ? error.name : "Error" };
}

export interface WorkerThreadServices {
  /** Null where the runtime has no workers. */
  start: StartWorker | null;
  /** Called when a worker could not be started, or ended for another reason than a job's time. */
  onLoss: (failure: unknown) => void;
  startTicker?: StartTicker;
}

/** Takes what a worker says of a job. @param say tells that worker something, while it is there */
export type OnWord<Word, Answer> = (word: Word, say: (answer: Answer) => void) => void;

export interface WorkerThreadOptions<Word, Answer> extends WorkerThreadServices {
  bounds?: Partial<WorkerThreadBounds>;
  /** Gets the words of jobs that have ended here already. */
  onStray?: OnWord<Word, Answer>;
}

export interface WorkerThreadBounds {
  /** Time limit of a start. */
  startMs: number;
  /** No worker is started so long after a start that failed; twice as long after each further one. */
  restMs: number;
  /**
   * A worker that has had nothing to do for so long is ended: large jobs leave it with much memory. A new
   * one holds the main thread for 10 to 50 ms, and takes up to half a second of another.
   */
  idleMs: number;
  /**
   * Given where a worker does several jobs at a time: it is ended when it does not answer for so long,
   * and outlives jobs whose time is over.
   */
  silenceMs: number;
}

const BOUNDS: WorkerThreadBounds = {
  startMs: 10_000,
  restMs: 10_000,
  idleMs: MINUTE_MS,
  silenceMs: Infinity,
};
const MAX_REST_MS = MINUTE_MS;
/**
 * How often a worker is looked at. Looks are counted in place of time: a pause of the
 * whole process counts for nothing, and what the worker says is heard before it is found to be late.
 */
export const LOOK_MS = 250;

export interface JobOptions<Word, Answer = never> {
  /** From when the worker has it, and up to a look more. */
  timeMs: number;
  /** Buffers that move to the worker. */
  transfer?: Transferable[];
  onWord?: OnWord<Word, Answer>;
}

interface GivenJob<Job, Result, Word, Answer> extends JobOptions<Word, Answer> {
  job: Job;
  end: (end: JobEnd<Result>) => void;
}

export class WorkerThread<Job, Result, Word = never, Answer = never> {
  readonly #options: WorkerThreadOptions<Word, Answer>;
  readonly #bounds: WorkerThreadBounds;
  readonly #jobs = new Map<number, GivenJob<Job, Result, Word, Answer>>();
  #worker: RunningWorker | null = null;
  #isReady = false;
  #isClosed = false;
  #failedStarts = 0;
  #restMs = 0;
  #ids = 0;
  /** Since it was started, last said something, or last had a job: whichever is being watched. */
  #quietMs = 0;
  #stopLooks: (() => void) | null = null;

  constructor(options: WorkerThreadOptions<Word, Answer>) {
    this.#options = options;
    this.#bounds = { ...BOUNDS, ...options.bounds };
  }

  /** Whether it has a worker, which may be starting. */
  get isStarted(): boolean {
    return this.#worker !== null;
  }

  /** Whether a job would be begun at once. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether it has a worker or may start one now. */
  get isUsable(): boolean {
    return this.isStarted ||
      this.#options.start !== null && !this.#isClosed && this.#restMs <= 0;
  }

  /** Starts the worker for jobs to come. */
  start(): void {
    if (!this.isStarted && this.isUsable) this.#start(this.#options.start!);
  }

  /** Does a job as soon as there is a worker. Never rejects. */
  run(job: Job, options: JobOptions<Word, Answer>): Promise<JobEnd<Result>> {
    this.start();
    if (!this.isStarted) {
      return Promise.resolve({ type: this.#isClosed ? "closed" : "no_worker" });
    }
    const { promise, resolve: end } = Promise.withResolvers<JobEnd<Result>>();
    const id = this.#ids++;
    if (this.#jobs.size === 0) this.#quietMs = 0;
    this.#jobs.set(id, { ...options, job, end });
    this.#watch();
    if (this.#isReady) this.#post(id);
    return promise;
  }

  /** Starts no worker for a while: longer each time, until a job has come to its end. */
  rest(): void {
    if (this.#isClosed) return;
    this.#restMs = Math.min(this.#bounds.restMs * 2 ** this.#failedStarts++, MAX_REST_MS);
    this.#watch();
  }

  /** Ends the worker, and all jobs with it. */
  close(): void {
    this.#isClosed = true;
    this.#restMs = 0;
    this.#end({ type: "closed" });
  }

  #start(start: StartWorker): void {
    let worker: RunningWorker | null = null;
    const isCurrent = () => worker !== null && this.#worker === worker;
    const say = (word: Answer) => isCurrent() && worker!.postMessage({ word }, []);
    try {
      worker = start({
        message: (message) => isCurrent() && this.#hear(message as FromWorker<Result, Word>, say),
        died: (failure) => isCurrent() && this.#lose(failure),
      });
    } catch (error) {
      return this.#lose(error);
    }
    this.#worker = worker;
    this.#quietMs = 0;
    this.#watch();
  }

  #watch(): void {
    const { startTicker = startIntervalTicker } = this.#options;
    this.#stopLooks ??= startTicker(() => this.#look(), LOOK_MS);
  }

  #stopWatching(): void {
    this.#stopLooks?.();
    this.#stopLooks = null;
  }

  #post(id: number): void {
    const { job, transfer = [], end } = this.#jobs.get(id)!;
    try {
      this.#worker!.postMessage({ id, job }, transfer);
    } catch (error) {
      this.#jobs.delete(id);
      end(failedBy(error));
    }
  }

  #hear(message: FromWorker<Result, Word>, say: (answer: Answer) => void): void {
    this.#quietMs = 0;
    if (message === "ready") {
      if (this.#isReady) return;
      this.#isReady = true;
      for (const id of this.#jobs.keys()) this.#post(id);
    }
    if (typeof message === "string") return;
    const job = this.#jobs.get(message.id);
    if ("word" in message) return (job?.onWord ?? this.#options.onStray)?.(message.word, say);
    if (job === undefined) return;
    this.#failedStarts = 0;
    this.#jobs.delete(message.id);
    job.end(
      "result" in message
        ? { type: "result", result: message.result }
        : { type: "failed", reason: message.failed },
    );
  }

  #look(): void {
    if (!this.isStarted) {
      this.#restMs -= LOOK_MS;
      if (this.#restMs <= 0) this.#stopWatching();
      return;
    }
    this.#quietMs += LOOK_MS;
    const { startMs, idleMs, silenceMs } = this.#bounds;
    if (!this.#isReady) {
      if (this.#quietMs > startMs) this.#lose(new Error("the worker did not start in time"));
    } else if (this.#jobs.size === 0) {
      if (this.#quietMs > idleMs) this.#end({ type: "lost" });
      else if (idleMs === Infinity) this.#stopWatching();
    } else if (this.#quietMs > silenceMs) this.#lose(new Error("the worker does not answer"));
    else {
      for (const [id, job] of this.#jobs) {
        job.timeMs -= LOOK_MS;
        if (job.timeMs < 0) this.#giveUp(id, job);
      }
      if (silenceMs !== Infinity) this.#worker?.postMessage("ping", []);
    }
  }

  #giveUp(id: number, { end }: GivenJob<Job, Result, Word, Answer>): void {
    this.#jobs.delete(id);
    end({ type: "timed_out" });
    if (this.#bounds.silenceMs === Infinity) this.#end({ type: "lost" });
  }

  #lose(failure: unknown): void {
    if (!this.#isReady) this.rest();
    this.#end({ type: this.#isReady ? "lost" : "no_worker" });
    this.#options.onLoss(failure);
  }

  #end(how: JobEnd<Result>): void {
    if (this.#restMs <= 0) this.#stopWatching();
    else this.#watch(); // looks alone end a rest
    this.#worker?.terminate();
    this.#worker = null;
    this.#isReady = false;
    const jobs = [...this.#jobs.values()];
    this.#jobs.clear();
    for (const { end } of jobs) end(how);
  }
}
