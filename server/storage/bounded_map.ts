/**
 * A map that drops what was set longest ago beyond a capacity. For values that can be read again, or
 * that mean nothing after so many others.
 */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  /** A new iterator would walk over all that were deleted before the oldest entry. */
  #oldest = this.#entries.keys();

  constructor(private readonly capacity: number) {}

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key); // makes it the newest entry
    this.#entries.set(key, value);
    if (this.#entries.size <= this.capacity) return;
    let oldest = this.#oldest.next();
    if (oldest.done) {
      this.#oldest = this.#entries.keys();
      oldest = this.#oldest.next();
    }
    this.#entries.delete(oldest.value!);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }
}
