/** Starts the workers of a relay: each with no more rights than it needs. */

export interface WorkerEvents {
  message(message: unknown): void;
  /** It has ended, or what it sends cannot be read: nothing more comes. */
  died(failure: unknown): void;
}

/** A worker as its host sees it. */
export interface RunningWorker {
  /** @param transfer buffers that move to the worker */
  postMessage(message: unknown, transfer: Transferable[]): void;
  terminate(): void;
}

/** @throws what the runtime throws where it has no workers */
export type StartWorker = (events: WorkerEvents) => RunningWorker;

export interface WorkerToStart {
  name: string;
  /** None at all unless given. */
  permissions?: Deno.PermissionOptions;
}

/**
 * What starts a worker. The runtime reads its modules by the right of this process to read them
 * (`server/base/config/permissions.ts`).
 * @param program its module, which calls serveJobs() or does the same
 */
export function workerOf(
  program: URL | string,
  { name, permissions = "none" }: WorkerToStart,
): StartWorker {
  return (events) => {
    const options: WorkerOptions & { deno: { permissions: Deno.PermissionOptions } } = {
      type: "module",
      name,
      deno: { permissions },
    };
    const worker = new Worker(program, options);
    worker.onmessage = ({ data }) => events.message(data);
    worker.onerror = (event) => {
      event.preventDefault(); // else it ends this process too
      events.died(new Error(event.message));
    };
    worker.onmessageerror = () => events.died(new Error("a message that cannot be read"));
    return worker;
  };
}
