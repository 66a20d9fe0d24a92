/** The checking worker as its host sees it. */
import { openWorker } from "../../../base/workers/open_worker.ts";
import type { FromWorker, ToWorker } from "./auth_messages.ts";

export interface WorkerEvents {
  said(message: FromWorker): void;
  /** It has ended, or what it says cannot be read: nothing more comes. */
  died(failure: unknown): void;
}

export interface AuthWorker {
  /** @param moved buffers that the worker takes over */
  post(message: ToWorker, moved?: Transferable[]): void;
  terminate(): void;
}

export type StartAuthWorker = (events: WorkerEvents) => AuthWorker;

/** Starts the worker, with no permission at all. @throws what the runtime throws where it has no workers */
export const startAuthWorker: StartAuthWorker = (events) => {
  const program = new URL("./auth_worker.ts", import.meta.url);
  const worker = openWorker<FromWorker>(program, { name: "mail-auth" }, {
    message: (message) => events.said(message),
    died: (failure) => events.died(failure),
  });
  return {
    post: (message, moved = []) => worker.postMessage(message, moved),
    terminate: () => worker.terminate(),
  };
};
