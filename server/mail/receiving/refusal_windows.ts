/**
 * How many messages of an hour were refused, by whatever they are counted under. In memory, and for a
 * bounded number of names: a row of each would cost a commit for every message that is not wanted, and
 * what is to be bounded is the work of this process. What is forgotten may be refused once more.
 */
import { admit, type Window } from "../../rate_window.ts";
import { HOUR_MS } from "../../time_units.ts";

const MAX_NAMES = 4_096;

export class RefusalWindows {
  /** The one counted last stands last. */
  readonly #windows = new Map<string, Window>();

  /** @param now Unix milliseconds */
  constructor(private readonly now: () => number) {}

  /** Milliseconds until another one has room under a limit; null where it has. */
  waitMs(name: string, limit: number): number | null {
    const admitted = admit(this.#windows.get(name) ?? [], this.now(), rule(limit));
    return "retryAfterMs" in admitted ? admitted.retryAfterMs : null;
  }

  /** Of the last hour. */
  countOf(name: string): number {
    const window = this.#windows.get(name) ?? [];
    const sinceMs = this.now() - HOUR_MS;
    let count = 0;
    for (let i = 0; i < window.length; i += 2) if (window[i]! > sinceMs) count += window[i + 1]!;
    return count;
  }

  /** Counts one more, unless the window is full. */
  count(name: string, limit: number): void {
    const admitted = admit(this.#windows.get(name) ?? [], this.now(), rule(limit));
    if ("retryAfterMs" in admitted) return;
    this.#windows.delete(name);
    this.#windows.set(name, admitted.window);
    if (this.#windows.size <= MAX_NAMES) return;
    const [oldest] = this.#windows.keys();
    this.#windows.delete(oldest!);
  }
}

const rule = (limit: number) => ({ limit, windowMs: HOUR_MS });
