/** How long work on large bytes holds the main thread without a break. */
const SLICE_MS = 1;

export interface SliceTimes {
  sliceMs?: number;
  /** How long it rests after so much work; until others have run once unless given. */
  restMs?: (workedMs: number) => number;
}

/** For loops over much: between two slices, of a millisecond unless given, whatever else waits runs. */
export class SliceClock {
  #beganMs: number;

  /** @param now monotonic milliseconds */
  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly times: SliceTimes = {},
  ) {
    this.#beganMs = now();
  }

  get isOver(): boolean {
    return this.now() - this.#beganMs >= (this.times.sliceMs ?? SLICE_MS);
  }

  /** Begins a slice: others have just run, while something was read. */
  begin(): void {
    this.#beganMs = this.now();
  }

  /** Lets others run, and begins a slice. */
  async next(): Promise<void> {
    const restMs = this.times.restMs?.(this.now() - this.#beganMs);
    await new Promise((resolve) => setTimeout(resolve, restMs));
    this.begin();
  }
}
