/**
 * The body of one request: read whole within bounds, given up, and what becomes of its rest. If a
 * connection is cut off while its client still writes, the answer may be lost. The rest of a body that
 * was given up is therefore read and discarded for a while. Cutting it off then closes the connection,
 * at once or with the next byte that comes. The runtime by itself would wait for the end of the body.
 */
import { invalidJson, RelayError } from "../../errors.ts";
import type { BodyBudget, BudgetedBody } from "./body_budget.ts";
import type { BodyPoolRules } from "./body_pools.ts";
import { gatherHeld, gatherLarge, gatherSmall } from "./gather_bytes.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The bodies under way that share a budget and a time. */
export interface BodyPool extends BodyPoolRules {
  budget: BodyBudget;
  now: () => number;
  /** Bodies that are not complete yet. */
  unfinished: Set<RequestBody>;
  /** Bodies given up whose rest is discarded. */
  discarded: Set<RequestBody>;
  /** Has expire() and cutOff() called about every second, until no body is in these sets. */
  startTicking(): void;
}

interface UnreadBody {
  read(): Promise<{ done: boolean }>;
  cancel(): Promise<void>;
}

const EMPTY = new Uint8Array(0);
/** Bodies announced up to this size are read the fast way, others the way that takes less memory. */
const FAST_BYTES = 16 * 1024;
/** Room for bytes that nobody wants. */
const SCRAP_BYTES = 8 * 1024;
/** A client that goes on writing what is discarded is cut off after this time; one that stops, earlier. */
const PATIENCE_MS = 15_000;

export class RequestBody implements BudgetedBody {
  beganMs = 0;
  #cameBytes = 0;
  #rest: UnreadBody | undefined;
  #reject: ((refusal: RelayError) => void) | undefined;
  /** Its answer was decided before its end: the connection cannot go on to another request. */
  #isGivenUp = false;
  #discardedUntilMs = 0;
  /** Whether something that is discarded came since the last look. */
  #hasMoved = false;

  constructor(
    private readonly request: Request,
    private readonly limitBytes: number,
    private readonly pool: BodyPool,
    readonly addressOf: () => string,
  ) {}

  /** See readBody(). */
  read(): Promise<Bytes> {
    const { headers } = this.request;
    const encoding = headers.get("content-encoding");
    if (encoding !== null && encoding !== "" && encoding.toLowerCase() !== "identity") {
      return Promise.reject(invalidJson(
        "Content-Encoding must be absent or identity: send the body uncompressed",
      ));
    }
    const length = headers.get("content-length");
    const announcedBytes = length !== null && /^[0-9]+$/.test(length) ? Number(length) : undefined;
    if (announcedBytes === 0) return Promise.resolve(EMPTY);
    if (announcedBytes !== undefined && announcedBytes > this.limitBytes) {
      // Its stream is not touched: the runtime then discards it and closes the connection.
      return Promise.reject(tooLarge(this.limitBytes));
    }
    const stream = this.request.body;
    if (stream === null) return Promise.resolve(EMPTY);
    this.beganMs = this.pool.now();
    const accept = (bytes: number) => this.#accept(bytes);
    const gathering = this.#gather(stream, announcedBytes, accept);
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.pool.unfinished.add(this);
      this.pool.startTicking();
      gathering.then((whole) => {
        if (whole === null || this.#isGivenUp) return;
        this.pool.unfinished.delete(this);
        this.pool.budget.finish(this);
        resolve(whole);
      }, (error) => {
        this.pool.unfinished.delete(this);
        reject(cutOff(error));
      });
    });
  }

  #gather(
    stream: ReadableStream<Bytes>,
    announcedBytes: number | undefined,
    accept: (bytes: number) => boolean,
  ): Promise<Bytes | null> {
    const isSmall = announcedBytes !== undefined && announcedBytes <= FAST_BYTES;
    const filling = isSmall ? null : fillingReader(stream);
    if (filling !== null) {
      const scrap = () => new Uint8Array(SCRAP_BYTES);
      this.#rest = { read: () => filling.read(scrap()), cancel: () => filling.cancel() };
      return gatherLarge(filling, accept);
    }
    const reader = stream.getReader();
    this.#rest = { read: () => reader.read(), cancel: () => reader.cancel() };
    return isSmall ? gatherSmall(reader, announcedBytes, accept) : gatherHeld(reader, accept);
  }

  /** Counts bytes that came. @returns false when the body is given up */
  #accept(bytes: number): boolean {
    if (this.#isGivenUp) return false;
    this.#cameBytes += bytes;
    if (this.#cameBytes > this.limitBytes) this.#giveUp(tooLarge(this.limitBytes, true));
    else this.pool.budget.grow(this, bytes);
    return !this.#isGivenUp;
  }

  /** How fast it has come so far, in bytes a millisecond. */
  speed(nowMs: number): number {
    return this.#cameBytes / Math.max(1, nowMs - this.beganMs);
  }

  expire(nowMs: number): void {
    const allowedMs = this.pool.allowedMs(this.#cameBytes);
    if (nowMs - this.beganMs < allowedMs) return;
    this.#giveUp(
      new RelayError(
        "request_timeout",
        `the request body was not complete within ${allowedMs / 1000} s: send it again`,
      ),
    );
  }

  drop(): void {
    this.#giveUp(
      new RelayError(
        "unavailable",
        "the relay has more request bodies in hand than it has room for, and this was the slowest; " +
          "nothing was stored; send the same request again after Retry-After",
        { retryAfterMs: 1000 },
      ),
    );
  }

  #giveUp(refusal: RelayError): void {
    this.#isGivenUp = true;
    this.pool.unfinished.delete(this);
    this.pool.budget.release(this);
    this.#reject?.(refusal);
  }

  /**
   * The request has its answer: frees what is held, and sees to the rest of a body given up.
   * @param sent gives what settles when the answer has left, or cannot. A body that came to its end
   * before would leave the connection open for another request.
   */
  close(sent?: () => Promise<void>): void {
    this.pool.budget.release(this);
    const rest = this.#rest;
    if (!this.#isGivenUp || rest === undefined) return;
    const discard = () => this.#discard(rest);
    if (sent === undefined) void discard();
    else sent().then(discard, discard);
  }

  async #discard(rest: UnreadBody): Promise<void> {
    const { discarded, now } = this.pool;
    this.#discardedUntilMs = now() + PATIENCE_MS;
    discarded.add(this);
    this.pool.startTicking();
    try {
      while (!(await rest.read()).done) this.#hasMoved = true;
    } catch {
      // The client has left: there is no rest.
    }
    discarded.delete(this);
  }

  /** Cuts the rest off where it takes too long, or nothing of it came since the last call. */
  cutOff(nowMs: number): void {
    if (this.#hasMoved && nowMs < this.#discardedUntilMs) {
      this.#hasMoved = false;
      return;
    }
    this.pool.discarded.delete(this);
    this.#rest!.cancel().catch(() => {});
  }
}

/** Null for a body that had come whole before it was asked for: the runtime holds it already. */
function fillingReader(stream: ReadableStream<Bytes>): ReadableStreamBYOBReader | null {
  try {
    return stream.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/**
 * @param closeConnection true where the runtime may not say it in the answer by itself: it may hold
 * the rest of the body already, and then sees no reason to
 */
function tooLarge(limitBytes: number, closeConnection = false): RelayError {
  return new RelayError(
    "payload_too_large",
    `the request body is larger than the ${limitBytes} bytes allowed: send less`,
    { closeConnection },
  );
}

function cutOff(cause: unknown): RelayError {
  return new RelayError(
    "invalid_json",
    "the request body ended before it was complete, or its chunks are malformed: send it again",
    { cause },
  );
}
