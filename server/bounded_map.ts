/**
 * A map that drops what was set longest ago beyond a capacity. For values that can be made again at
 * little cost, or that mean nothing after so many others; storage/segmented_map.ts has rows of the store.
 */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  /** A new iterator would walk over all that were deleted before the oldest entry. */
  #oldest = this.#entries.entries();

  /** @param capacity entries that are kept; Infinity for whoever takes the oldest out itself */
  constructor(private readonly capacity: number) {}

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key); // makes it the newest entry
    this.add(key, value);
  }

  /** The same under a key that has no entry. */
  add(key: K, value: V): void {
    this.#entries.set(key, value);
    if (this.#entries.size > this.capacity) this.takeOldest();
  }

  /** @returns whether it was there */
  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }

  /** Takes the oldest entry out; there must be one. */
  takeOldest(): [K, V] {
    let next = this.#oldest.next();
    if (next.done) {
      this.#oldest = this.#entries.entries();
      next = this.#oldest.next();
    }
    const oldest = next.value!;
    this.#entries.delete(oldest[0]);
    return oldest;
  }
}
