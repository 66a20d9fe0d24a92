/**
 * Bounds how many attempts of a kind run at one time. The other rows that are already leased wait
 * in order.
 */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a slot. @returns false when the signal aborted before one was free */
  async take(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#free > 0) {
      this.#free--;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const onFree = () => resolve(true);
    const onAbort = () => {
      // A caller that was given a slot keeps it and must give it back.
      if (this.#waiting.delete(onFree)) resolve(false);
    };
    this.#waiting.add(onFree);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  giveBack(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      next();
      return;
    }
    this.#free++;
  }
}
