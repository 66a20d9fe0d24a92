/** Request bodies, read whole, with a bound on size and time. */
import { invalidJson, RelayError } from "../errors.ts";

/** Reads the whole body of a request. */
export interface BodyReader {
  /**
   * The raw bytes of the body; empty when there is none.
   * @param limitBytes greatest size that is accepted
   * @param what how messages call it, as in "request body"
   * @throws RelayError payload_too_large when the body is larger: at once by Content-Length, else
   * when the limit is passed; request_timeout when it is not complete in time; invalid_json when
   * it is encoded or ends early
   */
  read(request: Request, limitBytes: number, what?: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Stops the ticker; reads that still wait end by themselves. */
  close(): void;
}

/** What routes are given of a reader; see BodyReader.read. */
export type ReadBody = BodyReader["read"];

export interface BodyReaderOptions {
  /** Milliseconds within which a body must be complete; passed at most one tick later. */
  deadlineMs?: number;
  /** A monotonic clock in milliseconds. */
  now?: () => number;
  /** Calls `tick` about once a second until the function it returns is called. */
  startTicker?: (tick: () => void) => () => void;
}

interface PendingRead {
  deadlineMs: number;
  expire: () => void;
}

/** Decisions, "Bodies": a body not complete within 15 s is refused. */
const BODY_DEADLINE_MS = 15_000;
const TICK_MS = 1000;
const EMPTY = new Uint8Array(0);

/**
 * A reader whose deadlines share one ticker: a timer per request costs more than reading a small
 * body. The ticker runs from the first pending read to the first tick that finds none.
 */
export function createBodyReader(options: BodyReaderOptions = {}): BodyReader {
  const deadlineMs = options.deadlineMs ?? BODY_DEADLINE_MS;
  const now = options.now ?? (() => performance.now());
  const startTicker = options.startTicker ?? startIntervalTicker;
  const pending = new Set<PendingRead>();
  let stopTicker: (() => void) | undefined;

  function tick(): void {
    const nowMs = now();
    for (const read of pending) {
      if (read.deadlineMs > nowMs) continue;
      pending.delete(read);
      read.expire();
    }
    if (pending.size === 0) close();
  }

  function close(): void {
    stopTicker?.();
    stopTicker = undefined;
  }

  /** Settles as `reading` does, or with request_timeout when it takes too long. */
  function withinDeadline<T>(reading: Promise<T>, abandon?: () => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const read: PendingRead = {
        deadlineMs: now() + deadlineMs,
        expire: () => {
          reject(timedOut(deadlineMs));
          abandon?.();
        },
      };
      pending.add(read);
      stopTicker ??= startTicker(tick);
      reading.then((value) => {
        pending.delete(read);
        resolve(value);
      }, (error) => {
        pending.delete(read);
        reject(error instanceof RelayError ? error : cutOff(error));
      });
    });
  }

  // Not async: what is refused by its headers costs no promise of its own.
  function read(
    request: Request,
    limitBytes: number,
    what = "request body",
  ): Promise<Uint8Array<ArrayBuffer>> {
    const encoding = request.headers.get("content-encoding");
    if (encoding !== null && encoding !== "" && encoding.toLowerCase() !== "identity") {
      return Promise.reject(invalidJson(
        "Content-Encoding must be absent or identity: send the body uncompressed",
      ));
    }
    const length = request.headers.get("content-length");
    if (length !== null && /^[0-9]+$/.test(length)) {
      const sizeBytes = Number(length);
      if (sizeBytes === 0) return Promise.resolve(EMPTY);
      if (sizeBytes > limitBytes) {
        request.body?.cancel().catch(() => {});
        return Promise.reject(tooLarge(what, limitBytes));
      }
      // Content-Length frames the body, so the runtime's own whole read is bounded by it.
      return withinDeadline(request.bytes() as Promise<Uint8Array<ArrayBuffer>>);
    }
    const body = request.body;
    if (body === null) return Promise.resolve(EMPTY);
    const reader = body.getReader();
    return withinDeadline(readStream(reader, limitBytes, what), () => cancel(reader));
  }

  return { read, close };
}

async function readStream(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limitBytes: number,
  what: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    sizeBytes += value.byteLength;
    if (sizeBytes > limitBytes) {
      cancel(reader);
      throw tooLarge(what, limitBytes);
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(sizeBytes);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

/** Lets the server discard the rest: a client that writes all before it reads still gets its answer. */
function cancel(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => {});
}

function startIntervalTicker(tick: () => void): () => void {
  const timer = setInterval(tick, TICK_MS);
  Deno.unrefTimer(timer);
  return () => clearInterval(timer);
}

function tooLarge(what: string, limitBytes: number): RelayError {
  return new RelayError(
    "payload_too_large",
    `the ${what} is larger than the ${limitBytes} bytes allowed: send less`,
    { closeConnection: true },
  );
}

function timedOut(deadlineMs: number): RelayError {
  return new RelayError(
    "request_timeout",
    `the request body was not complete within ${deadlineMs / 1000} s: send it again`,
    { closeConnection: true },
  );
}

function cutOff(cause: unknown): RelayError {
  return new RelayError(
    "invalid_json",
    "the request body ended before it was complete: send it again",
    { cause },
  );
}
