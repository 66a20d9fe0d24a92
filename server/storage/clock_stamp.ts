/**
 * When the store was last used, by the clock of the process that used it. A wrong clock is found by
 * comparing with it.
 */
import { retryWhileLocked } from "./lock_retry.ts";

const CLOCK_KEY: Deno.KvKey = ["meta", "clock"];
/**
 * A relay does not start with a clock further behind the stamp. Further ahead, start-up prints a
 * warning.
 */
export const FAR_MS = 86_400_000;
/** How often a running relay writes the stamp; much shorter than FAR_MS. */
const STAMP_EVERY_MS = 3_600_000;

/** The clock is far behind the store. The message says what to do. */
export class ClockBehindError extends Error {
  override readonly name = "ClockBehindError";
  constructor(nowMs: number, stampedMs: number) {
    super(
      `the clock says ${utc(nowMs)}, and the store was in use at ${
        utc(stampedMs)
      }: set the clock right; ` +
        "if it is right, and was wrong then, start once with RELAY_CLOCK_CHECK=off",
    );
  }
}

/** The time of last use of one store; several relays on it share the row. */
export class ClockStamp {
  #stampedMs = -Infinity;

  constructor(private readonly kv: Deno.Kv, private readonly now: () => number) {}

  /**
   * Compares the clock with the store's last use, and writes the stamp.
   * @param check false for RELAY_CLOCK_CHECK=off: a clock that is behind is accepted
   * @returns a warning for the operator, null when there is none
   * @throws ClockBehindError
   */
  async open(check: boolean): Promise<string | null> {
    const stored = await retryWhileLocked(() => this.kv.get<number>(CLOCK_KEY));
    const nowMs = this.now();
    const note = noteOn(nowMs, stored.value, check);
    await this.#write();
    return note;
  }

  /**
   * Writes the stamp when this relay's last one is an hour old, or was written by a different
   * clock.
   */
  async refresh(): Promise<void> {
    if (Math.abs(this.now() - this.#stampedMs) >= STAMP_EVERY_MS) await this.#write();
  }

  async #write(): Promise<void> {
    const nowMs = this.now();
    await retryWhileLocked(() => this.kv.set(CLOCK_KEY, nowMs));
    this.#stampedMs = nowMs;
  }
}

function noteOn(nowMs: number, stampedMs: number | null, check: boolean): string | null {
  if (stampedMs === null) return null;
  if (stampedMs - nowMs > FAR_MS) {
    if (check) throw new ClockBehindError(nowMs, stampedMs);
    return `RELAY_CLOCK_CHECK is off: ${utc(nowMs)} is taken for right, the store was in use at ${
      utc(stampedMs)
    }; the variable may go now`;
  }
  if (nowMs - stampedMs <= FAR_MS) return check ? null : "RELAY_CLOCK_CHECK is off";
  return `${utc(nowMs)}, and the store was last in use at ${
    utc(stampedMs)
  }: if this relay was not ` +
    "stopped for so long, stop it, set the clock right and restore a backup: what has expired by this " +
    "clock is deleted";
}

function utc(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/\.\d+Z$/, "Z");
}
