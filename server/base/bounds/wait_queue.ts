/** A queue of those who wait for something. */
export class WaitQueue<Got, Asked = undefined> {
  readonly #waiting = new Set<{ asked: Asked | undefined; take: (got: Got | null) => void }>();

  get length(): number {
    return this.#waiting.size;
  }

  /** @returns what is given, or null once the signal aborts; what was given before that stays given */
  async wait(signal?: AbortSignal, asked?: Asked): Promise<Got | null> {
    const { promise, resolve } = Promise.withResolvers<Got | null>();
    const one = { asked, take: resolve };
    const giveUp = () => void (this.#waiting.delete(one) && resolve(null));
    this.#waiting.add(one);
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  /**
   * Gives something to the longest waiting of those who may have it.
   * @param mayHave asked of each in order; the first it accepts gets it
   * @returns whether anybody got it
   */
  give(got: Got, mayHave: (asked: Asked) => boolean = () => true): boolean {
    for (const one of this.#waiting) {
      if (!mayHave(one.asked as Asked)) continue;
      this.#waiting.delete(one);
      one.take(got);
      return true;
    }
    return false;
  }
}
