/** How long work on large bytes holds the main thread at one time. */
const SLICE_MS = 1;

/** For loops over large bytes: between two slices of a millisecond whatever else waits runs. */
export class SliceClock {
  #endsMs: number;

  /** @param now monotonic milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.#endsMs = now() + SLICE_MS;
  }

  get isOver(): boolean {
    return this.now() >= this.#endsMs;
  }

  /** Lets others run, and begins a slice. */
  async next(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#endsMs = this.now() + SLICE_MS;
  }
}
