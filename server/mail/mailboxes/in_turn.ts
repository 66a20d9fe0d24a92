/** Work that is done in turn for each name: what waits for another of its name holds nothing. */
export class InTurn {
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #counts = new Map<string, number>();

  /** Names at which somebody works or waits. */
  get size(): number {
    return this.#last.size;
  }

  /** How many work or wait under a name. */
  waitingAt(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Does work after all that came before it under the same name, whatever became of that. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#last.set(name, mine);
    this.#counts.set(name, this.waitingAt(name) + 1);
    try {
      return await mine;
    } finally {
      const left = this.waitingAt(name) - 1;
      if (left > 0) this.#counts.set(name, left);
      else this.#counts.delete(name);
      if (this.#last.get(name) === mine) this.#last.delete(name);
    }
  }
}
