/** A server on a free port of this machine, for tests of what answers requests. */
import { delay } from "./pace.ts";

export interface TestServer {
  port: number;
  /** Accepts nothing more, and ends when every request has its answer. */
  close(): Promise<void>;
}

type Handle = (request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>) =>
  | Response
  | Promise<Response>;

/**
 * Deno.Server.shutdown() of Deno 2.5 waits for clients to close connections that were never used.
 * fetch() keeps such a connection for minutes when another one became free while it connected.
 */
const shutdownWaitsForSilentClients = Deno.version.deno.startsWith("2.5.");

export function startTestServer(handle: Handle): TestServer {
  return shutdownWaitsForSilentClients ? serveAndAbort(handle) : serveAndShutDown(handle);
}

const FLUSH_MS = 10;
const ON_FREE_PORT = { hostname: "127.0.0.1", port: 0, onListen: () => {} };

function serveAndShutDown(handle: Handle): TestServer {
  const server = Deno.serve(ON_FREE_PORT, handle);
  return { port: server.addr.port, close: () => server.shutdown() };
}

function serveAndAbort(handle: Handle): TestServer {
  const end = new AbortController();
  const underWay = new Set<Promise<void>>();
  let closing = false;
  const server = Deno.serve({ ...ON_FREE_PORT, signal: end.signal }, (request, info) => {
    if (closing) return new Response(null, { status: 503, headers: { Connection: "close" } });
    // Rejects when the client has left before its answer.
    const ended = info.completed.catch(() => {}).finally(() => underWay.delete(ended));
    underWay.add(ended);
    return handle(request, info);
  });
  return {
    port: server.addr.port,
    async close() {
      closing = true;
      await Promise.all(underWay);
      // The runtime has taken the answer but may not have written it to the socket.
      await delay(FLUSH_MS);
      end.abort();
      await server.finished;
    },
  };
}
