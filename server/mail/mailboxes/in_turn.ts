/** Work that is done in turn for each name: what waits for another of its name holds nothing. */
export class InTurn {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Names at which somebody works or waits. */
  get size(): number {
    return this.#last.size;
  }

  /** Does work after all that came before it under the same name, whatever became of that. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name);
    }
  }
}
