/** Starts the workers of a relay: each with no more rights than it needs. */

export interface WorkerEvents<Message> {
  message(message: Message): void;
  /** It has ended, or what it sends cannot be read: nothing more comes. */
  died(failure: unknown): void;
}

export interface WorkerToOpen {
  name: string;
  /** None at all unless given. */
  permissions?: Deno.PermissionOptions;
}

/**
 * Starts a worker. The runtime reads its modules by the right of this process to read them
 * (`server/base/config/permissions.ts`).
 * @param program its module
 * @throws what the runtime throws where it has no workers
 */
export function openWorker<Message>(
  program: URL | string,
  { name, permissions = "none" }: WorkerToOpen,
  events: WorkerEvents<Message>,
): Worker {
  const options: WorkerOptions & { deno: { permissions: Deno.PermissionOptions } } = {
    type: "module",
    name,
    deno: { permissions },
  };
  const worker = new Worker(program, options);
  worker.onmessage = ({ data }: MessageEvent<Message>) => events.message(data);
  worker.onerror = (event) => {
    event.preventDefault(); // else it ends this process too
    events.died(new Error(event.message));
  };
  worker.onmessageerror = () => events.died(new Error("a message that cannot be read"));
  return worker;
}
