/**
 * How much of long messages all sessions read together. Who sends without an end takes no more of the main
 * thread than that, and less while it is late: what may be read comes with each tick.
 */
import type { StartTicker } from "../../../base/time/ticker.ts";

const TICK_MS = 10;

interface Waiting {
  sizeBytes: number;
  go: () => void;
}

export class ReadPace {
  readonly #tickBytes: number;
  /** Below 0 where the last one took more than there was. */
  #leftBytes: number;
  readonly #waiting: Waiting[] = [];
  /** Null while nothing has been taken that is not there again. */
  #stopTicker: (() => void) | null = null;

  constructor(bytesPerSecond: number, private readonly startTicker: StartTicker) {
    this.#tickBytes = this.#leftBytes = Math.ceil(bytesPerSecond * TICK_MS / 1000);
  }

  /** Takes so much; resolves when it is there, after all who came before. */
  async take(sizeBytes: number): Promise<void> {
    this.#stopTicker ??= this.startTicker(() => this.#tick(), TICK_MS);
    if (this.#waiting.length === 0 && this.#leftBytes > 0) {
      this.#leftBytes -= sizeBytes;
      return;
    }
    await new Promise<void>((go) => this.#waiting.push({ sizeBytes, go }));
  }

  #tick(): void {
    const { length } = this.#waiting;
    this.#leftBytes = Math.min(0, this.#leftBytes) + this.#tickBytes;
    while (this.#waiting.length > 0 && this.#leftBytes > 0) {
      const { sizeBytes, go } = this.#waiting.shift()!;
      this.#leftBytes -= sizeBytes;
      go();
    }
    if (length === 0 && this.#leftBytes === this.#tickBytes) this.#stop();
  }

  #stop(): void {
    this.#stopTicker?.();
    this.#stopTicker = null;
  }

  /** Lets all go on who wait. */
  close(): void {
    this.#stop();
    for (const { go } of this.#waiting.splice(0)) go();
  }
}
