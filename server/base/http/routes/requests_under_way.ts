/** How many requests have come and are not answered yet. */
export class RequestsUnderWay {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Counts a request until `answer` has returned, resolved or thrown; gives what it gives. */
  counted<T>(answer: () => T | Promise<T>): T | Promise<T> {
    this.#count++;
    let given: T | Promise<T>;
    try {
      given = answer();
    } catch (error) {
      this.#count--;
      throw error;
    }
    // Cheaper than finally(), which every request would pay for.
    if (given instanceof Promise) return given.then(this.#passOn, this.#fail) as Promise<T>;
    this.#count--;
    return given;
  }

  readonly #passOn = <A>(answer: A): A => {
    this.#count--;
    return answer;
  };

  readonly #fail = (failure: unknown): never => {
    this.#count--;
    throw failure;
  };
}
