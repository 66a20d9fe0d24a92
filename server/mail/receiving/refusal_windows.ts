/**
 * How many messages of an hour were refused, by whatever they are counted under (docs/adr/0039). In
 * memory, and for a bounded number of names: a row of each would cost a commit for every message that is
 * not wanted, and what is to be bounded is the work of this process. What is forgotten may be refused
 * once more.
 */
import { BoundedMap } from "../../base/bounds/bounded_map.ts";
import { admit, countIn, type Window } from "../../base/bounds/rate_window.ts";
import { Semaphore } from "../../base/bounds/semaphore.ts";
import { HOUR_MS, MINUTE_MS } from "../../base/time/time_units.ts";

const MAX_NAMES = 4_096;

export class RefusalWindows {
  readonly #windows = new BoundedMap<string, Window>(MAX_NAMES);
  /** Messages that may still be refused or not. */
  readonly #reserved = new Semaphore<string>({ permits: Infinity });

  /** @param now Unix milliseconds */
  constructor(private readonly now: () => number) {}

  /** Milliseconds until another one has room under a limit, if all that are held are refused; null where it has. */
  waitMs(name: string, limit: number): number | null {
    const admitted = admit(this.#windows.get(name) ?? [], this.now(), rule(limit));
    if ("retryAfterMs" in admitted) return admitted.retryAfterMs;
    return this.countOf(name) + this.reservedOf(name) < limit ? null : MINUTE_MS;
  }

  /** Refusals in the last hour. */
  countOf(name: string): number {
    return countIn(this.#windows.get(name) ?? [], this.now(), HOUR_MS);
  }

  reservedOf(name: string): number {
    return this.#reserved.countOf(name);
  }

  /** Counts a message as if it were refused, until the function is called that this returns. */
  reserve(name: string): () => void {
    return this.#reserved.tryTake(name)!;
  }

  /** Counts one more, unless the window is full. */
  count(name: string, limit: number): void {
    const admitted = admit(this.#windows.get(name) ?? [], this.now(), rule(limit));
    if ("window" in admitted) this.#windows.set(name, admitted.window);
  }
}

const rule = (limit: number) => ({ limit, windowMs: HOUR_MS });
