/** The checking worker as its host sees it. */
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

/**
 * Starts the worker, with no permission at all. The runtime reads its modules by the right of this
 * process to read them (`server/config/permissions.ts`).
 * @throws what the runtime throws where it has no workers
 */
export const startAuthWorker: StartAuthWorker = (events) => {
  const options: WorkerOptions & { deno: { permissions: "none" } } = {
    type: "module",
    name: "mail-auth",
    deno: { permissions: "none" },
  };
  const worker = new Worker(new URL("./auth_worker.ts", import.meta.url), options);
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => events.said(data);
  worker.onerror = (event) => {
    event.preventDefault(); // else it ends this process too
    events.died(new Error(event.message));
  };
  worker.onmessageerror = () => events.died(new Error("a message that cannot be read"));
  return {
    post: (message, moved = []) => worker.postMessage(message, moved),
    terminate: () => worker.terminate(),
  };
};
