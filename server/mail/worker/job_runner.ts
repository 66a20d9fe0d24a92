/**
 * One worker and the job that it does: started when it is first wanted, ended when a job's time is over
 * or it has had nothing to do. Where none can be started, the main thread does the job.
 */
import type { MailJobKind, WorkerMessage } from "./mail_jobs.ts";
import type { RunningMailWorker, StartMailWorker } from "./start_mail_worker.ts";

export interface JobRunnerServices {
  /** Null where the runtime has no workers: the main thread does the jobs then. */
  start: StartMailWorker | null;
  /** Told when a worker could not be started, or died of something else than its time. */
  onLoss: (failure: unknown) => void;
  /** Calls back once, unless cancelled by the function it returns. */
  after: (delayMs: number, callback: () => void) => () => void;
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
}

export interface JobRunnerBounds {
  /** Of a start. */
  startMs: number;
  /** Starts that fail in a row until no more are tried. */
  starts: number;
  /** A worker that has had nothing to do for so long is ended: large mails leave it with much memory. */
  idleMs: number;
}

export type JobEnd =
  | { type: "result"; result: unknown }
  | { type: "timed_out" }
  | { type: "failed" }
  | { type: "closed" };

export interface RunnerJob {
  kind: MailJobKind;
  raw: Uint8Array;
  input: unknown;
  onStep: (step: never) => void;
}

/** A job under way. */
interface Running {
  job: RunnerJob;
  jobMs: number;
  ended: (end: JobEnd) => void;
}

/** Bytes copied in one slice. */
const COPIED_BYTES = 2 * 1024 * 1024;
/**
 * How long a job keeps the main thread where there are no workers: a slice of 20 ms at most, with what
 * is done between two moments at which it can be put aside.
 */
const SLICE_MS = 10;

export class JobRunner {
  #running: Running | null = null;
  /** One that answers, or is starting. */
  #worker: RunningMailWorker | null = null;
  #isReady = false;
  #failedStarts = 0;
  #cancelTimer: () => void = () => {};

  constructor(
    private readonly services: JobRunnerServices,
    private readonly bounds: JobRunnerBounds,
  ) {}

  get isFree(): boolean {
    return this.#running === null;
  }

  /** Whether it has a worker, which may be starting. */
  get isStarted(): boolean {
    return this.#worker !== null;
  }

  /**
   * Does a job; called when it is free.
   * @param jobMs its time, from when the worker has it
   * @param ended called once; the lane is free by then
   */
  run(job: RunnerJob, jobMs: number, ended: (end: JobEnd) => void): void {
    this.#running = { job, jobMs, ended };
    if (this.#worker === null) this.#start();
    else this.#post();
  }

  /** Ends the worker and its job. */
  close(): void {
    this.#dropWorker();
    const running = this.#running;
    this.#running = null;
    running?.ended({ type: "closed" });
  }

  #start(): void {
    const { start } = this.services;
    if (start === null || this.#failedStarts >= this.bounds.starts) {
      this.#runHere();
      return;
    }
    this.#isReady = false;
    let worker: RunningMailWorker | null = null;
    const isCurrent = () => worker !== null && this.#worker === worker;
    try {
      worker = start({
        message: (message) => isCurrent() && this.#take(message),
        died: (failure) => isCurrent() && this.#lose(failure),
      });
    } catch (error) {
      this.#lose(error);
      return;
    }
    this.#worker = worker;
    this.#cancelTimer = this.services.after(
      this.bounds.startMs,
      () => this.#lose(new Error("the mail worker did not start in time")),
    );
  }

  /**
   * Gives the worker a copy of the bytes: the caller keeps its own, and a view may have a larger
   * buffer. Large ones are copied in slices, since memory that is new takes time to be had.
   */
  async #post(): Promise<void> {
    this.#cancelTimer(); // of idleness
    const [running, worker] = [this.#running!, this.#worker!];
    const { job: { kind, raw, input }, jobMs } = running;
    const copy = new Uint8Array(raw.length);
    for (let at = 0; at < raw.length; at += COPIED_BYTES) {
      if (at > 0) await new Promise((resolve) => setTimeout(resolve));
      if (this.#running !== running || this.#worker !== worker) return;
      copy.set(raw.subarray(at, at + COPIED_BYTES), at);
    }
    this.#cancelTimer = this.services.after(jobMs, () => {
      this.#dropWorker();
      this.#end({ type: "timed_out" });
    });
    worker.post({ kind, raw: copy, input }, [copy.buffer]);
  }

  #take(message: WorkerMessage): void {
    if (message.type === "ready") {
      if (this.#isReady) return;
      this.#cancelTimer();
      this.#isReady = true;
      this.#failedStarts = 0;
      if (this.#running !== null) this.#post();
    } else if (this.#running === null) return;
    else if (message.type === "step") this.#running.job.onStep(message.step as never);
    else if (message.type === "result") this.#end({ type: "result", result: message.result });
    else {
      this.services.onLoss(new Error(`a mail could not be read: ${message.reason}`));
      this.#end({ type: "failed" });
    }
  }

  /** A worker that never began leaves its job to the main thread; one that died of it does not. */
  #lose(failure: unknown): void {
    const hadBegun = this.#isReady;
    this.#dropWorker();
    this.services.onLoss(failure);
    if (this.#running === null) return;
    if (hadBegun) return this.#end({ type: "failed" });
    this.#failedStarts++;
    this.#runHere();
  }

  #dropWorker(): void {
    this.#cancelTimer();
    this.#worker?.terminate();
    this.#worker = null;
    this.#isReady = false;
  }

  #end(how: JobEnd): void {
    this.#cancelTimer();
    const { ended } = this.#running!;
    this.#running = null;
    ended(how);
    if (this.#running !== null || this.#worker === null) return;
    this.#cancelTimer = this.services.after(this.bounds.idleMs, () => this.#dropWorker());
  }

  /** Does the job on the main thread, in slices of a few ms between which others run. */
  async #runHere(): Promise<void> {
    const running = this.#running!;
    const { job, jobMs } = running;
    const { now, onLoss } = this.services;
    let nowMs = now();
    const until = nowMs + jobMs;
    let sliceEndMs = nowMs + SLICE_MS;
    let how: JobEnd = { type: "failed" };
    try {
      const { MAIL_JOBS } = await import("./mail_jobs.ts");
      const steps = MAIL_JOBS[job.kind].run(job.raw, job.input as never);
      for (;;) {
        const step = await steps.next();
        if (this.#running !== running) return;
        if (step.done === true) {
          how = { type: "result", result: step.value };
          break;
        }
        if (step.value !== null) job.onStep(step.value as never);
        nowMs = now();
        if (nowMs > until) {
          how = { type: "timed_out" };
          break;
        }
        if (nowMs < sliceEndMs) continue;
        await new Promise((resolve) => setTimeout(resolve));
        sliceEndMs = now() + SLICE_MS;
      }
    } catch (error) {
      onLoss(error);
    }
    if (this.#running === running) this.#end(how);
  }
}
