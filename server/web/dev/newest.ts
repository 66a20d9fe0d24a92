/** What local mode keeps of a kind, in memory: the newest, within bounds. */

export interface NewestBounds {
  entries: number;
  bytes: number;
}

export class Newest<T extends { number: number }> {
  readonly #kept: T[] = [];
  #bytes = 0;
  #last = 0;

  constructor(private readonly bounds: NewestBounds, private readonly sizeOf: (one: T) => number) {}

  /** Keeps one, numbered from 1 on; the oldest make room for it. */
  add(make: (number: number) => T): T {
    const one = make(++this.#last);
    this.#kept.push(one);
    this.#bytes += this.sizeOf(one);
    while (this.#kept.length > this.bounds.entries || this.#bytes > this.bounds.bytes) {
      this.#bytes -= this.sizeOf(this.#kept.shift()!);
    }
    return one;
  }

  get newestFirst(): T[] {
    return this.#kept.toReversed();
  }

  /** Undefined for a number that was never given, or whose owner is no longer kept. */
  find(number: number): T | undefined {
    return this.#kept[number - (this.#kept[0]?.number ?? 0)];
  }
}
