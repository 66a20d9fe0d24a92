/**
 * Ids in the order of their coming. A Map keeps that order too, but asking it for its first
 * entry walks over all that were deleted before it.
 */
export class IdQueue {
  #ids: number[] = [];
  /** Where the oldest id stands. */
  #at = 0;

  /** Ids that take room, deleted ones included. */
  get size(): number {
    return this.#ids.length;
  }

  /** @param present who tells which ids are still wanted: others give their room back now and then */
  push(id: number, present: Present): void {
    this.#ids.push(id);
    if (this.#ids.length <= 2 * present.size + SPARE) return;
    this.#ids = this.#ids.slice(this.#at).filter((one) => present.has(one));
    this.#at = 0;
  }

  /** Takes the oldest id that is present, or undefined where none is. */
  takeOldest(present: Present): number | undefined {
    while (this.#at < this.#ids.length) {
      const id = this.#ids[this.#at++]!;
      if (present.has(id)) return id;
    }
    return undefined;
  }
}

type Present = Pick<ReadonlyMap<number, unknown>, "has" | "size">;

/** Few ids are not worth tidying up. */
const SPARE = 1_000;
