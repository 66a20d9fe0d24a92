/** The mail worker as its host sees it. */
import type { PostedJob, WorkerMessage } from "./mail_jobs.ts";

export interface MailWorkerEvents {
  message(message: WorkerMessage): void;
  /** It has ended, or what it sends cannot be read: nothing more comes. */
  died(failure: unknown): void;
}

export interface RunningMailWorker {
  /** @param transfer buffers that move to the worker */
  post(job: PostedJob, transfer: Transferable[]): void;
  terminate(): void;
}

export type StartMailWorker = (events: MailWorkerEvents) => RunningMailWorker;

/**
 * Starts the worker, with no permission at all. The runtime reads its modules by the right of this
 * process to read them (`server/config/permissions.ts`).
 * @throws what the runtime throws where it has no workers
 */
export const startMailWorker: StartMailWorker = (events) => {
  const options: WorkerOptions & { deno: { permissions: "none" } } = {
    type: "module",
    name: "mail",
    deno: { permissions: "none" },
  };
  const worker = new Worker(new URL("./mail_worker_program.ts", import.meta.url), options);
  worker.onmessage = ({ data }) => events.message(data);
  worker.onerror = (event) => {
    event.preventDefault(); // else it ends this process too
    events.died(new Error(event.message));
  };
  worker.onmessageerror = () => events.died(new Error("a message that cannot be read"));
  return {
    post: (job, transfer) => worker.postMessage(job, transfer),
    terminate: () => worker.terminate(),
  };
};
