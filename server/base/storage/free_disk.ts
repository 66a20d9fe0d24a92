/**
 * Tells whether the disk of the embedded store has room. Writes stop before it is full, reads go
 * on.
 */
import { RelayError } from "../errors.ts";

const FRESH_MS = 2_000;
const SENDS_WAIT =
  "the relay's disk is nearly full: sends, registrations, profile changes and new tokens wait until its operator makes room; reads go on";

/** Free bytes for an unprivileged process on the disk of a folder. */
export type MeasureFreeBytes = () => Promise<number>;

export class FreeDisk {
  #freeBytes = Infinity;
  #measuredMs = -Infinity;
  #measuring: Promise<void> | undefined;

  /**
   * @param measure null when the store is not on a disk of this machine
   * @param refusal what callers are told: which writes wait, and what goes on
   */
  constructor(
    private readonly measure: MeasureFreeBytes | null,
    private readonly minFreeBytes: number,
    private readonly now: () => number = () => performance.now(),
    private readonly refusal = SENDS_WAIT,
  ) {}

  /** Measures now; called at start-up so that the first write knows. */
  refresh(): Promise<void> {
    return this.#measuring ??= this.#refresh().finally(() => this.#measuring = undefined);
  }

  async #refresh(): Promise<void> {
    if (this.measure === null) return;
    try {
      this.#freeBytes = await this.measure();
    } catch {
      this.#freeBytes = Infinity; // a disk that cannot be measured is not treated as full
    }
    this.#measuredMs = this.now();
  }

  /** As last measured; null where the store is not on a disk of this machine, or it failed. */
  get freeBytes(): number | null {
    return Number.isFinite(this.#freeBytes) ? this.#freeBytes : null;
  }

  /**
   * Refuses writes by a measurement that is at most some seconds old. If it showed room, it also
   * counts for the writes that arrive while the next one is made.
   * @throws RelayError `unavailable`
   */
  async refuseWhenFull(): Promise<void> {
    if (this.measure === null) return;
    if (this.now() - this.#measuredMs > FRESH_MS) {
      const measured = this.refresh();
      if (this.#isFull) await measured;
    }
    if (!this.#isFull) return;
    throw new RelayError("unavailable", this.refusal, { retryAfterMs: 60_000 });
  }

  get #isFull(): boolean {
    return this.#freeBytes < this.minFreeBytes;
  }
}
