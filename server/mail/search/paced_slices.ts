/** Work on the main thread in slices: after some milliseconds it rests as long as it worked. */
export class PacedSlices {
  #beganMs: number;

  /** @param now monotonic milliseconds */
  constructor(
    private readonly now: () => number,
    private readonly sliceMs = 5,
    private readonly rest: (ms: number) => Promise<void> = sleep,
  ) {
    this.#beganMs = now();
  }

  /** Others have just run, while something was read. */
  begin(): void {
    this.#beganMs = this.now();
  }

  /** Called often: lets others run when the slice is over. */
  async yield(): Promise<void> {
    const workedMs = this.now() - this.#beganMs;
    if (workedMs < this.sliceMs) return;
    await this.rest(Math.min(workedMs, 50));
    this.#beganMs = this.now();
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
