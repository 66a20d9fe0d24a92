/**
 * Large answers on their way to their clients. They are given in pieces as the client takes them,
 * and bounded in bytes. An answer that is not read for a while is given up. A client that
 * asks and does not read therefore costs little.
 */
import { RelayError } from "../../errors.ts";
import { startIntervalTicker, type StartTicker } from "../../time/ticker.ts";

export interface AnswerBounds {
  /** Bytes of all answers that are not taken yet. */
  totalBytes: number;
  /** The share of it for answers to unauthenticated requests and small tool results. */
  anybodyBytes: number;
  /** An answer that is not read for this long is given up. */
  idleMs: number;
}

const MIB = 1024 * 1024;
const ANSWER_BOUNDS: AnswerBounds = {
  totalBytes: 64 * MIB,
  anybodyBytes: 16 * MIB,
  idleMs: 30_000,
};
/** Bytes given at a time; the runtime and the system hold a few more for each peer. */
const CHUNK_BYTES = 64 * 1024;
/** Who asked: an agent, whose pages are counted too, or anybody. */
export type Asker = "agent" | "anybody";

/** Bytes reserved for one answer, until it has been given, given up or left. */
export interface AnswerReservation {
  /** The bytes as the peer takes them; ends the reservation with the last one. */
  stream(bytes: Uint8Array): ReadableStream<Uint8Array>;
  /** Gives the bytes back where no stream was made; later calls do nothing. */
  end(): void;
}

interface Given {
  /** When the peer last took something, on the monotonic clock. */
  takenMs: number;
  beganMs: number;
  giveUp(): void;
}

export interface AnswerBudgetOptions {
  bounds?: AnswerBounds;
  /** Monotonic milliseconds. */
  now?: () => number;
  /** Calls back about every second until the function it returns is called. */
  startTicker?: StartTicker;
}

export class AnswerBudget {
  readonly #bounds: AnswerBounds;
  readonly #now: () => number;
  readonly #startTicker: StartTicker;
  #stopTicker: (() => void) | undefined;
  #bytes = 0;
  #anybodyBytes = 0;
  /** Streams under way, the oldest first. */
  readonly #given = new Set<Given>();

  constructor(options: AnswerBudgetOptions = {}) {
    this.#bounds = options.bounds ?? ANSWER_BOUNDS;
    this.#now = options.now ?? (() => performance.now());
    this.#startTicker = options.startTicker ?? startIntervalTicker;
  }

  /** Bytes reserved now, as the bound counts them. */
  get sizeBytes(): number {
    return this.#bytes;
  }

  /**
   * Reserves bytes for an answer. Where none are free, answers that their peers have been taking for
   * longer than anybody may stay idle are given up for it, the oldest first.
   * @throws RelayError `unavailable` when there are too few
   */
  reserve(sizeBytes: number, asker: Asker, ended: () => void = () => {}): AnswerReservation {
    const { totalBytes, anybodyBytes } = this.#bounds;
    const isOver = () =>
      this.#bytes + sizeBytes > totalBytes ||
      asker === "anybody" && this.#anybodyBytes + sizeBytes > anybodyBytes;
    if (sizeBytes > 0 && isOver()) this.#giveUpOldest(isOver);
    if (sizeBytes > 0 && this.#bytes > 0 && isOver()) throw tooManyAnswers();
    return this.#take(sizeBytes, asker, ended);
  }

  /** Counts an answer that can no longer be refused, since what it reports has been done. */
  reserveAnyway(sizeBytes: number, ended: () => void = () => {}): AnswerReservation {
    return this.#take(sizeBytes, "agent", ended);
  }

  #take(sizeBytes: number, asker: Asker, ended: () => void): AnswerReservation {
    this.#count(sizeBytes, asker);
    let isReserved = true;
    const end = () => {
      if (!isReserved) return;
      isReserved = false;
      this.#count(-sizeBytes, asker);
      ended();
    };
    return { end, stream: (bytes) => this.#stream(bytes, end) };
  }

  /** Ends what runs by itself. */
  close(): void {
    this.#stopTicker?.();
    this.#stopTicker = undefined;
  }

  #count(sizeBytes: number, asker: Asker): void {
    this.#bytes += sizeBytes;
    if (asker === "anybody") this.#anybodyBytes += sizeBytes;
  }

  #giveUpOldest(isOver: () => boolean): void {
    const nowMs = this.#now();
    for (const given of this.#given) {
      if (!isOver() || nowMs - given.beganMs < this.#bounds.idleMs) return;
      given.giveUp();
    }
  }

  #stream(bytes: Uint8Array, end: () => void): ReadableStream<Uint8Array> {
    const nowMs = this.#now();
    let left: Uint8Array | null = bytes;
    const finish = () => {
      left = null;
      this.#given.delete(given);
      end();
      if (this.#given.size === 0) this.close();
    };
    let giveUp = () => {};
    const given: Given = { takenMs: nowMs, beganMs: nowMs, giveUp: () => giveUp() };
    this.#given.add(given);
    this.#stopTicker ??= this.#startTicker(() => this.#giveUpIdle());
    return new ReadableStream<Uint8Array>({
      start(controller) {
        giveUp = () => {
          finish();
          controller.error(new NotTaken());
        };
      },
      // Called for each piece when the one before has been taken.
      pull: (controller) => {
        given.takenMs = this.#now();
        if (left === null) return;
        controller.enqueue(left.subarray(0, CHUNK_BYTES));
        left = left.subarray(CHUNK_BYTES);
        if (left.length > 0) return;
        controller.close();
        finish();
      },
      cancel: finish,
    }, { highWaterMark: 0 });
  }

  #giveUpIdle(): void {
    const nowMs = this.#now();
    for (const given of [...this.#given]) {
      if (nowMs - given.takenMs >= this.#bounds.idleMs) given.giveUp();
    }
  }
}

/** What ends the connection of a peer that did not take its answer. */
class NotTaken extends Error {
  override readonly name = "NotTaken";
  constructor() {
    super("the peer did not take the answer in time");
    delete this.stack; // nobody wants one a peer
  }
}

function tooManyAnswers(): RelayError {
  return new RelayError(
    "unavailable",
    "the relay holds as many large answers as it has room for until they are taken; nothing was marked as delivered; ask again after Retry-After, for fewer with limit",
    { retryAfterMs: 1000 },
  );
}
