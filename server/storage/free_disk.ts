/** Whether the disk of the embedded store has room: writes stop before it is full, reads go on. */
import { RelayError } from "../errors.ts";

const FRESH_MS = 2_000;

/** Free bytes for an unprivileged process on the disk of a folder. */
export type MeasureFreeBytes = () => Promise<number>;

export class FreeDisk {
  #freeBytes = Infinity;
  #measuredMs = -Infinity;
  #measuring = false;

  /** @param measure null where the store is not on a disk of ours */
  constructor(
    private readonly measure: MeasureFreeBytes | null,
    private readonly minFreeBytes: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Measures now; called at start-up so that the first write knows. */
  async refresh(): Promise<void> {
    if (this.measure === null) return;
    this.#measuring = true;
    try {
      this.#freeBytes = await this.measure();
    } catch {
      this.#freeBytes = Infinity; // a disk that cannot be measured is not called full
    } finally {
      this.#measuredMs = this.now();
      this.#measuring = false;
    }
  }

  /** By what was last measured, at most some seconds ago. @throws RelayError `unavailable` */
  refuseWhenFull(): void {
    if (this.measure === null) return;
    if (!this.#measuring && this.now() - this.#measuredMs > FRESH_MS) void this.refresh();
    if (this.#freeBytes >= this.minFreeBytes) return;
    throw new RelayError(
      "unavailable",
      "the relay's disk is nearly full: sends and registrations wait until its operator makes room; reads go on",
      { retryAfterMs: 60_000 },
    );
  }
}
