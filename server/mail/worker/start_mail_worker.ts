/** The mail worker as its host sees it. */
import { openWorker, type WorkerEvents } from "../../base/workers/open_worker.ts";
import type { PostedJob, WorkerMessage } from "./mail_jobs.ts";

export type MailWorkerEvents = WorkerEvents<WorkerMessage>;

export interface RunningMailWorker {
  /** @param transfer buffers that move to the worker */
  post(job: PostedJob, transfer: Transferable[]): void;
  terminate(): void;
}

export type StartMailWorker = (events: MailWorkerEvents) => RunningMailWorker;

/** Starts the worker, with no permission at all. @throws what the runtime throws where it has no workers */
export const startMailWorker: StartMailWorker = (events) => {
  const program = new URL("./mail_worker_program.ts", import.meta.url);
  const worker = openWorker(program, { name: "mail" }, events);
  return {
    post: (job, transfer) => worker.postMessage(job, transfer),
    terminate: () => worker.terminate(),
  };
};
