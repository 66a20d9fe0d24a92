/** Bounds how many callers work at the same time, or how many of each name; the others wait in order. */
import type { RelayError } from "../errors.ts";
import { WaitQueue } from "./wait_queue.ts";

export interface SemaphoreOptions {
  /** Permits that may be out: for each name, where callers name what they take them for. */
  permits: number;
  /** Callers that may wait for one; any number unless given. */
  maxWaiting?: number;
  /** The error that a caller beyond those gets; given with their number. */
  refusal?: () => RelayError;
}

interface Queue {
  taken: number;
  readonly waiting: WaitQueue<true>;
}

export class Semaphore<Name = undefined> {
  /** Of names under which somebody has a permit. */
  readonly #queues = new Map<Name | undefined, Queue>();

  constructor(private readonly options: SemaphoreOptions) {}

  /** Names under which somebody has a permit. */
  get size(): number {
    return this.#queues.size;
  }

  /** How many have a permit or wait for one. */
  countOf(name?: Name): number {
    const queue = this.#queues.get(name);
    return queue === undefined ? 0 : queue.taken + queue.waiting.length;
  }

  /** Takes a permit that is free. @returns gives it back, later calls do nothing; null where none is */
  tryTake(name?: Name): (() => void) | null {
    const queue = this.#queues.get(name) ?? { taken: 0, waiting: new WaitQueue<true>() };
    if (queue.taken >= this.options.permits) return null;
    queue.taken++;
    this.#queues.set(name, queue);
    return this.#permit(queue, name);
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
    const queue = this.#queues.get(name)!;
    if (queue.waiting.length >= maxWaiting) throw refusal!();
    await queue.waiting.wait();
    return this.#permit(queue, name);
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

  #permit(queue: Queue, name: Name | undefined): () => void {
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      if (!queue.waiting.give(true) && --queue.taken === 0) this.#queues.delete(name);
    };
  }
}
