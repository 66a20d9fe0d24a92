/** How many requests have come and are not answered yet. */
export class RequestsUnderWay {
  #count = 0;
  #becameIdle = () => {};

  get count(): number {
    return this.#count;
  }

  /** Resolves when no request is under way. Asked once, by who stops. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#becameIdle = resolve;
      if (this.#count === 0) resolve();
    });
  }

  /** Counts a request until `answer` has returned, resolved or thrown; gives what it gives. */
  counted<T>(answer: () => T | Promise<T>): T | Promise<T> {
    this.#count++;
    try {
      const given = answer();
      // Cheaper than finally(), which every request would pay for.
      if (given instanceof Promise) return given.then(this.#passOn, this.#fail) as Promise<T>;
      return this.#passOn(given);
    } catch (error) {
      return this.#fail(error);
    }
  }

  readonly #passOn = <A>(answer: A): A => {
    if (--this.#count === 0) this.#becameIdle();
    return answer;
  };

  readonly #fail = (failure: unknown): never => {
    this.#passOn(failure);
    throw failure;
  };
}
