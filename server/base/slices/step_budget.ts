/** What reading a document costs, counted and not timed: the same on every machine. Pure. */

/** A step is a look at one character, element, selector or declaration: some 100 ns. */
const STEPS_PER_CHARACTER = 2;
/** What style sheets may take in addition, for each character and at most: about a second. */
const STYLE_STEPS_PER_CHARACTER = 6;
const MOST_STYLE_STEPS = 8_000_000;
/** What a short document with a long style sheet may take in addition. */
const STEPS_AT_LEAST = 250_000;
/** A few ms at most. */
const STEPS_BETWEEN_RESTS = 8_192;

export class StepBudget {
  #done = 0;
  #restAt = STEPS_BETWEEN_RESTS;

  /** @param most that the counting code wants to take */
  constructor(readonly most: number) {}

  /** The budget of a document, in proportion to its length in UTF-16 units. */
  static of({ length }: { length: number }): StepBudget {
    const style = Math.min(STYLE_STEPS_PER_CHARACTER * length, MOST_STYLE_STEPS);
    return new StepBudget(STEPS_PER_CHARACTER * length + style + STEPS_AT_LEAST);
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

  /** Whether so much was done since this was last true that others should run. */
  isRestDue(): boolean {
    if (this.#done < this.#restAt) return false;
    this.#restAt = this.#done + STEPS_BETWEEN_RESTS;
    return true;
  }
}
