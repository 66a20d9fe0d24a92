/**
 * A listening server that outlives what the runtime's own does not: Deno.serve() ends for good at
 * the first connection that it cannot accept, such as one too many for the process's open files.
 */
import type { Log } from "../base/log.ts";
import { logSparsely } from "../base/log_sparsely.ts";

export interface Listener {
  /** The port listened on, the one taken when 0 was asked. */
  port: number;
  /** Accepts nothing more; resolves when what runs is answered and every connection closed. */
  shutdown(): Promise<void>;
}

export interface ListenerOptions {
  host: string;
  port: number;
  log: Log;
  handle: (
    request: Request,
    info: Deno.ServeHandlerInfo<Deno.NetAddr>,
  ) => Response | Promise<Response>;
  onError: (error: unknown) => Response;
}

/** Between a failure and the next attempt, while requests under way come to their end. */
const PAUSE_MS = 1000;

/** @throws Deno.errors.AddrInUse and its like when the address is not to be had at first */
export function openListener({ host, port, log, handle, onError }: ListenerOptions): Listener {
  const servers = new Set<Deno.HttpServer>();
  const logFailure = logSparsely(log, "listener_failed");
  let isClosed = false;
  let endPause = () => {};

  function listen(port: number): Deno.HttpServer<Deno.NetAddr> {
    const server = Deno.serve({ hostname: host, port, onListen: () => {}, onError }, handle);
    servers.add(server);
    server.finished.then(() => servers.delete(server), (error) => replace(server, error));
    return server;
  }

  async function replace(failed: Deno.HttpServer, error: unknown): Promise<void> {
    logFailure(error);
    await pause();
    if (isClosed) return;
    // Until then its connections were served; now those that wait for nothing give way to others.
    failed.shutdown().catch(logFailure).finally(() => servers.delete(failed));
    while (!isClosed) {
      try {
        listen(taken);
        return;
      } catch (error) {
        logFailure(error);
        await pause();
      }
    }
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PAUSE_MS);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const taken = listen(port).addr.port;
  return {
    port: taken,
    async shutdown() {
      isClosed = true;
      endPause();
      await Promise.all([...servers].map((server) => server.shutdown()));
    },
  };
}
