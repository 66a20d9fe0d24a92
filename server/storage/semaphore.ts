/** Bounds how many callers work at one time; the others wait in order. */
import type { RelayError } from "../errors.ts";

export interface SemaphoreOptions {
  /** Permits taken at one time. */
  permits: number;
  /** Callers that may wait for one. */
  maxWaiting: number;
  /** The error that a caller beyond those gets. */
  refusal: () => RelayError;
}

export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly options: SemaphoreOptions) {
    this.#free = options.permits;
  }

  /**
   * Waits for a permit.
   * @returns gives it back; later calls do nothing
   * @throws the refusal when too many wait
   */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else {
      if (this.#waiting.length >= this.options.maxWaiting) throw this.options.refusal();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
  }

  /** Does work under a permit of its own. @throws as take(), and what the work throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const giveBack = await this.take();
    try {
      return await work();
    } finally {
      giveBack();
    }
  }
}
