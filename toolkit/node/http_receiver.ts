import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { joinBytes } from "../join_bytes.ts";

/** A request that came whole. */
export interface ReceivedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** What a receiver takes. */
export interface ReceiverBounds {
  /** A longer body is answered 413. */
  readonly bodyBytes: number;
  /** A request that takes longer to come is cut off. */
  readonly requestMs: number;
  /** Further ones are closed at once. */
  readonly connections: number;
}

/** A server on 127.0.0.1. */
export interface HttpReceiver {
  readonly port: number;
  /** Takes nothing more, and cuts off what is under way. */
  close(): Promise<void>;
}

/** What of a platform receives requests. */
export interface HttpNetwork {
  receiveHttp: typeof receiveHttp;
}

/** HTTP by node:* modules, which Deno, Node.js and Bun all have. */
export const nodeHttp: HttpNetwork = { receiveHttp };

/**
 * Receives requests from this machine, any path.
 *
 * @param port 0: any that is free
 * @param answer gives the status of the answer, which has no content; where it throws: 500
 * @throws Error with a `code` such as EADDRINUSE where the port cannot be had
 */
async function receiveHttp(
  port: number,
  bounds: ReceiverBounds,
  answer: (request: ReceivedRequest) => Promise<number>,
): Promise<HttpReceiver> {
  const { bodyBytes, requestMs, connections } = bounds;
  const patience = {
    requestTimeout: requestMs,
    headersTimeout: requestMs,
    connectionsCheckingInterval: Math.min(requestMs, 1_000),
  };
  const server = createServer(patience, async (request, response) => {
    const body = await readBody(request, bodyBytes).catch(() => null);
    if (body === null) return;
    const { method = "", headers } = request;
    const status = body === "too large"
      ? 413
      : await answer({ method, headers, body }).catch(() => 500);
    end(request, response, status);
  });
  server.maxConnections = connections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as { port: number }).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** @throws where the client leaves, or is cut off, before the end */
async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | "too large"> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  // The connection stays for the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) return "too large";
    chunks.push(chunk);
  }
  return joinBytes(chunks) as Uint8Array<ArrayBuffer>;
}

/** Each delivery comes over a connection of its own; what is left of a body is not waited for. */
function end(request: IncomingMessage, response: ServerResponse, status: number): void {
  response.writeHead(status, { Connection: "close" });
  response.end(() => request.destroy());
}
