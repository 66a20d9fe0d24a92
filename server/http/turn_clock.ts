/** How long work on large bytes holds the main thread at one time. */
const TURN_MS = 1;

/** For loops over large bytes: between two turns of a millisecond whatever else waits runs. */
export class TurnClock {
  #endsMs: number;

  /** @param now monotonic milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.#endsMs = now() + TURN_MS;
  }

  get isOver(): boolean {
    return this.now() >= this.#endsMs;
  }

  /** Lets others run, and begins a turn. */
  async next(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#endsMs = this.now() + TURN_MS;
  }
}
