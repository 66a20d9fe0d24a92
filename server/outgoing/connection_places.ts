/** Bounds connections: who comes when all places are taken waits in line, for a place or a connection. */
export class ConnectionPlaces<C> {
  #free: number;
  readonly #waiting = new Set<(got: C | "free") => void>();

  constructor(places: number) {
    this.#free = places;
  }

  /** @returns "free" for a new connection, one that somebody handed on, or null once aborted */
  async take(signal: AbortSignal): Promise<C | "free" | null> {
    if (signal.aborted) return null;
    if (this.#free > 0) {
      this.#free--;
      return "free";
    }
    const { promise, resolve } = Promise.withResolvers<C | "free" | null>();
    const onAbort = () => {
      // Who was given something keeps it.
      if (this.#waiting.delete(resolve)) resolve(null);
    };
    this.#waiting.add(resolve);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Gives a connection, with its place, to who waits. @returns whether anybody does */
  handOn(connection: C): boolean {
    return this.#giveNext(connection);
  }

  /** A connection has ended. */
  free(): void {
    if (!this.#giveNext("free")) this.#free++;
  }

  #giveNext(got: C | "free"): boolean {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      next(got);
      return true;
    }
    return false;
  }
}
