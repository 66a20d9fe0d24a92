export interface BoundedMapOptions<V> {
  /**
   * Asked of the value that was set longest ago, before it is dropped: true makes it the newest instead. May
   * forget what it answered by, so that what was used since it was last asked stays, and what was not goes.
   */
  stays?: (value: V) => boolean;
  /** Called with each value dropped for lack of room. */
  dropped?: (value: V) => void;
}

/** How many values are asked whether they stay: bounds how long one insertion takes. */
const STEPS = 32;

/**
 * A map that drops what was set longest ago beyond a capacity. For values that can be read again, or
 * that mean nothing after so many others.
 */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  /** A new iterator would walk over all that were deleted before the oldest entry. */
  #oldest = this.#entries.entries();

  /** @param capacity values that are kept; those that stay may exceed it for a moment */
  constructor(
    private readonly capacity: number,
    private readonly options: BoundedMapOptions<V> = {},
  ) {}

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key); // makes it the newest entry
    this.#entries.set(key, value);
    // Two for one, so that the excess of those that stayed goes away.
    for (let i = 0; i < 2 && this.#entries.size > this.capacity; i++) this.#dropOneBut(key);
  }

  #dropOneBut(newest: K): void {
    const { stays, dropped } = this.options;
    for (let step = 0; step < STEPS; step++) {
      const [key, value] = this.#takeOldest();
      if (key !== newest && !stays?.(value)) return dropped?.(value);
      this.#entries.set(key, value);
    }
  }

  #takeOldest(): [K, V] {
    let next = this.#oldest.next();
    if (next.done) {
      this.#oldest = this.#entries.entries();
      next = this.#oldest.next();
    }
    const entry = next.value!;
    this.#entries.delete(entry[0]);
    return entry;
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }
}
