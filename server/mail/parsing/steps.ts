/** What reading a document costs, counted and not timed: the same on every machine. Pure. */

/** A step is a look at one character, element, selector or declaration: some 100 ns. */
const STEPS_PER_CHARACTER = 8;
/** What a short document with a long style sheet may take besides. */
const STEPS_AT_LEAST = 250_000;
/** A few ms at most. */
const STEPS_BETWEEN_RESTS = 8_192;

export class Steps {
  #done = 0;
  #restAt = STEPS_BETWEEN_RESTS;

  /** @param most that whoever counts wants to take */
  constructor(readonly most: number) {}

  /** The budget of a document, in proportion to its length in UTF-16 units. */
  static of(document: string): Steps {
    return new Steps(STEPS_PER_CHARACTER * document.length + STEPS_AT_LEAST);
  }

  get done(): number {
    return this.#done;
  }

  get areSpent(): boolean {
    return this.#done > this.most;
  }

  count(steps: number): void {
    this.#done += steps;
  }

  /** Whether so much was done since this was last true that others should have a turn. */
  isRestDue(): boolean {
    if (this.#done < this.#restAt) return false;
    this.#restAt = this.#done + STEPS_BETWEEN_RESTS;
    return true;
  }
}
