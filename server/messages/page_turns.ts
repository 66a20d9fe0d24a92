/**
 * Turns for reading pages of messages: a page may be 13 MB (200 messages of 64 KiB), so that only
 * some are in the making at one time. Small ones give their turn back as soon as they are read.
 */
import { RelayError } from "../errors.ts";

const TURNS = 12;
const MAX_WAITING = 5_000;

export class PageTurns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(turns = TURNS, private readonly maxWaiting = MAX_WAITING) {
    this.#free = turns;
  }

  /**
   * Waits for a turn.
   * @returns gives it back; later calls do nothing
   * @throws RelayError `unavailable` when too many wait
   */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else {
      if (this.#waiting.length >= this.maxWaiting) throw tooManyPages();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
  }
}

function tooManyPages(): RelayError {
  return new RelayError(
    "unavailable",
    "the relay has more pages of messages to read than it can at one time; nothing was marked as delivered; poll again after Retry-After",
    { retryAfterMs: 1000 },
  );
}
