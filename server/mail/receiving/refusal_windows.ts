/**
 * How many messages of an hour were refused, by whatever they are counted under (docs/adr/0039). In
 * memory, and for a bounded number of names: a row of each would cost a commit for every message that is
 * not wanted, and what is to be bounded is the work of this process. What is forgotten may be refused
 * once more.
 */
import { BoundedMap } from "../../base/bounds/bounded_map.ts";
import { CLOCK_SKEW_MS } from "../../base/time/clock_skew.ts";
import { admit, type Window } from "../../base/bounds/rate_window.ts";
import { HOUR_MS, MINUTE_MS } from "../../base/time/time_units.ts";

const MAX_NAMES = 4_096;

export class RefusalWindows {
  readonly #windows = new BoundedMap<string, Window>(MAX_NAMES);
  /** Messages that may still be refused or not. */
  readonly #reserved = new Map<string, number>();

  /** @param now Unix milliseconds */
  constructor(private readonly now: () => number) {}

  /** Milliseconds until another one has room under a limit, if all that are held are refused; null where it has. */
  waitMs(name: string, limit: number): number | null {
    const admitted = admit(this.#windows.get(name) ?? [], this.now(), rule(limit));
    if ("retryAfterMs" in admitted) return admitted.retryAfterMs;
    return this.countOf(name) + this.reservedOf(name) < limit ? null : MINUTE_MS;
  }

  /** Of the last hour. */
  countOf(name: string): number {
    const window = this.#windows.get(name) ?? [];
    const nowMs = this.now();
    let count = 0;
    for (let i = 0; i < window.length; i += 2) {
      const atMs = window[i]!;
      // As admit() has it: what a clock counted that was ahead would shut somebody out until then.
      if (atMs > nowMs - HOUR_MS && atMs <= nowMs + CLOCK_SKEW_MS) count += window[i + 1]!;
    }
    return count;
  }

  reservedOf(name: string): number {
    return this.#reserved.get(name) ?? 0;
  }

  /** Counts a message as if it were refused, until the function is called that this returns. */
  reserve(name: string): () => void {
    this.#reserved.set(name, this.reservedOf(name) + 1);
    return () => {
      const left = this.reservedOf(name) - 1;
      if (left > 0) this.#reserved.set(name, left);
      else this.#reserved.delete(name);
    };
  }

  /** Counts one more, unless the window is full. */
  count(name: string, limit: number): void {
    const admitted = admit(this.#windows.get(name) ?? [], this.now(), rule(limit));
    if ("window" in admitted) this.#windows.set(name, admitted.window);
  }
}

const rule = (limit: number) => ({ limit, windowMs: HOUR_MS });
