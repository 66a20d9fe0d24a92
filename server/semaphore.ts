/** Bounds how many callers work at one time, or how many of each name; the others wait in order. */
import type { RelayError } from "./errors.ts";
import { WaitingLine } from "./waiting_line.ts";

export interface SemaphoreOptions {
  /** Permits taken at one time: of each name, where callers name what they take them for. */
  permits: number;
  /** Callers that may wait for one; any number unless given. */
  maxWaiting?: number;
  /** The error that a caller beyond those gets; given with their number. */
  refusal?: () => RelayError;
}

interface Line {
  taken: number;
  readonly waiting: WaitingLine<true>;
}

export class Semaphore<Name = undefined> {
  /** Of names under which somebody has a permit. */
  readonly #lines = new Map<Name | undefined, Line>();

  constructor(private readonly options: SemaphoreOptions) {}

  /** Names under which somebody has a permit. */
  get size(): number {
    return this.#lines.size;
  }

  /** How many have a permit or wait for one. */
  countOf(name?: Name): number {
    const line = this.#lines.get(name);
    return line === undefined ? 0 : line.taken + line.waiting.length;
  }

  /** Takes a permit that is free. @returns gives it back, later calls do nothing; null where none is */
  tryTake(name?: Name): (() => void) | null {
    const line = this.#lines.get(name) ?? { taken: 0, waiting: new WaitingLine<true>() };
    if (line.taken >= this.options.permits) return null;
    line.taken++;
    this.#lines.set(name, line);
    return this.#permit(line, name);
  }

  /**
   * Waits for a permit.
   * @returns gives it back; later calls do nothing
   * @throws the refusal when too many wait
   */
  async take(name?: Name): Promise<() => void> {
    const permit = this.tryTake(name);
    if (permit !== null) return permit;
    const { maxWaiting = Infinity, refusal } = this.options;
    const line = this.#lines.get(name)!;
    if (line.waiting.length >= maxWaiting) throw refusal!();
    await line.waiting.wait();
    return this.#permit(line, name);
  }

  /** Does work under a permit of its own. @throws as take(), and what the work throws */
  async run<T>(work: () => Promise<T>, name?: Name): Promise<T> {
    const giveBack = await this.take(name);
    try {
      return await work();
    } finally {
      giveBack();
    }
  }

  #permit(line: Line, name: Name | undefined): () => void {
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      if (!line.waiting.give(true) && --line.taken === 0) this.#lines.delete(name);
    };
  }
}
