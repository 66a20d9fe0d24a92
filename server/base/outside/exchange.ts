/** One HTTP/1.1 request over a connection of its own, and as much of the answer as anybody looks at. */
import { Agent, type AgentOptions, type IncomingMessage, request as requestHttp } from "node:http";
import type { Socket } from "node:net";
import { OutsideFailure } from "./outside_failure.ts";

const MAX_BODY_BYTES = 65_536;
const MAX_HEADER_BYTES = 16_384;
/** Of all that the other side sends, interim answers included: they have no end of their own (RFC 9110, section 15.2). */
const MAX_READ_BYTES = MAX_BODY_BYTES + 2 * MAX_HEADER_BYTES;
/** Each of them costs a head to parse: a flood that MAX_READ_BYTES still lets through takes a tenth of a second. */
const MAX_INTERIM_ANSWERS = 500;
const KEPT_BYTES = 1_024;

const [MAJOR = 0, MINOR = 0] = Deno.version.deno.split(".").map(Number);
/** Older runtimes take neither a connection nor a `lookup` for a request of node:http. */
export const TAKES_CONNECTIONS = MAJOR > 2 || MAJOR === 2 && MINOR >= 9;

export interface Exchanged {
  /** 100 to 999; 101 where the other side changed the protocol. */
  status: number;
  retryAfter: string | undefined;
  /** The first 1,024 bytes. */
  body: Uint8Array<ArrayBuffer>;
  /** False where the time was over before the answer was. */
  isWhole: boolean;
}

/**
 * Posts a body and reads the answer, to its end or 64 KiB of it; one that breaks off has been given.
 * The connection is of no use afterwards, and is the caller's to destroy.
 *
 * @throws OutsideFailure "connect" for what is no answer of HTTP; signal.reason where none began in time
 */
export function exchange(
  socket: Socket,
  { url, headers, body }: { url: URL; headers: Record<string, string>; body: Uint8Array },
  signal: AbortSignal,
): Promise<Exchanged> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchanged>();
  const kept = new Uint8Array(KEPT_BYTES);
  let keptBytes = 0;
  let bodyBytes = 0;
  let readBytes = 0;
  let answer: IncomingMessage | undefined;

  const answered = (isWhole: boolean) => {
    const { statusCode = 0, headers } = answer!;
    if (statusCode < 100) return reject(new OutsideFailure("connect"));
    resolve({
      status: statusCode,
      retryAfter: headers["retry-after"],
      body: kept.slice(0, keptBytes),
      isWhole,
    });
  };
  const ended = (cause?: unknown) => {
    if (answer === undefined) reject(new OutsideFailure("connect", cause));
    else answered(true);
  };
  const late = () => answer === undefined ? reject(signal.reason) : answered(false);

  const request = requestHttp({
    agent: new OneSocket(socket),
    method: "POST",
    path: url.pathname + url.search,
    headers: { ...headers, "host": url.host, "connection": "close", "content-length": body.length },
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  request.on("error", ended);
  // What came before it may not have been given out yet: an answer has an end of its own.
  request.on("close", () => answer ?? ended());
  let interim = 0;
  request.on("information", () => {
    if (++interim <= MAX_INTERIM_ANSWERS) return;
    ended(new Error("too many interim answers"));
    socket.destroy();
  });
  request.on("upgrade", (head) => {
    answer = head;
    answered(true);
  });
  request.on("response", (head) => {
    answer = head;
    head.on("data", (chunk: Uint8Array) => {
      bodyBytes += chunk.length;
      const part = chunk.subarray(0, KEPT_BYTES - keptBytes);
      kept.set(part, keptBytes);
      keptBytes += part.length;
      if (bodyBytes >= MAX_BODY_BYTES) ended();
    });
    head.on("error", ended);
    head.on("close", () => ended());
  });
  socket.on("data", (chunk: Uint8Array) => {
    readBytes += chunk.length;
    if (readBytes > MAX_READ_BYTES) ended(new Error("the answer has no end"));
  });
  signal.addEventListener("abort", late, { once: true });
  request.end(body);
  if (signal.aborted) late();
  return promise.finally(() => {
    signal.removeEventListener("abort", late);
    request.destroy();
  });
}

/** Gives the request the connection that is open already; nothing is connected, kept or used again. */
class OneSocket extends Agent {
  constructor(private readonly socket: Socket) {
    // Without an environment of its own an agent writes requests for the proxy that NODE_USE_ENV_PROXY names.
    super({ keepAlive: false, proxyEnv: {} } as AgentOptions);
  }

  override createConnection(): Socket {
    return this.socket;
  }
}
