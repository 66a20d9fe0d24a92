/** A worker's own side (worker_thread.ts is the other): takes jobs, and reports their ends. */
import type { JobSteps } from "./job_workers.ts";
import type { FromWorker, ToWorker } from "./worker_thread.ts";

interface WorkerScope<Job, Result, Word, Answer> {
  onmessage: (event: MessageEvent<ToWorker<Job, Answer>>) => void;
  postMessage(message: FromWorker<Result, Word>, transfer?: Transferable[]): void;
}

export interface Served<Job, Result, Word, Answer> {
  /** @param tell says something about the job while it is done */
  run: (job: Job, tell: (word: Word) => void) => Result | Promise<Result>;
  /** Buffers of a result that move in place of being copied; none unless given. */
  buffersOf?: (result: Result, job: Job) => ArrayBuffer[];
  /** Gets the main thread's other messages. */
  onWord?: (word: Answer) => void;
}

/** Called once, by the program of a worker. */
export function serveJobs<Job, Result, Word = never, Answer = never>(
  { run, buffersOf = () => [], onWord }: Served<Job, Result, Word, Answer>,
): void {
  const scope = globalThis as unknown as WorkerScope<Job, Result, Word, Answer>;
  scope.onmessage = async ({ data }) => {
    if (data === "ping") return scope.postMessage("pong");
    if ("word" in data) return onWord?.(data.word);
    const { id, job } = data;
    try {
      const result = await run(job, (word) => scope.postMessage({ id, word }));
      scope.postMessage({ id, result }, buffersOf(result, job));
    } catch (error) {
      // The name alone: what an error says may quote the message.
      const failed = error instanceof Error ? error.name : "Error";
      scope.postMessage({ id, failed });
    }
  };
  scope.postMessage("ready");
}

/** The same of one job at a time, whose steps are told as they come (job_workers.ts). */
export function serveSteps<Job, Step, Result>(
  stepsOf: (job: Job) => JobSteps<Step, Result>,
  buffersOf?: (result: Result, job: Job) => ArrayBuffer[],
): void {
  serveJobs<Job, Result, Step>({
    async run(job, tell) {
      const steps = stepsOf(job);
      for (;;) {
        const step = await steps.next();
        if (step.done === true) return step.value;
        if (step.value !== null) tell(step.value);
      }
    },
    buffersOf,
  });
}
