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
    if (given instanceof Promise) return given.finally(this.#end);
    this.#count--;
    return given;
  }

  readonly #end = () => void this.#count--;
}
