/**
 * What a store knows of time: the newest at which it was used, by which a wrong clock is found at a
 * start, and for how long relays have run on it.
 */
import type { Clock } from "../deps.ts";
import { MINUTE_MS } from "../time_units.ts";
import type { ClockWatch } from "./clock_watch.ts";
import { retryWhileLocked } from "./lock_retry.ts";

/** Wall time of last use, unix ms: only ever written by a clock that was relied on. */
const NEWEST_KEY: Deno.KvKey = ["meta", "clock"];
/** Ms lived; absent in stores of former versions, which is 0. */
const LIVED_KEY: Deno.KvKey = ["meta", "lived"];
/** A relay does not start with a clock further behind the newest time, and remarks on one as far ahead. */
const FAR_MS = 86_400_000;
/** From so much on, a clock that is behind the newest time is told of. */
const BEHIND_MS = 2 * MINUTE_MS;
const WRITE_EVERY_MS = MINUTE_MS;

/** The clock is far behind the store. The message says what to do. */
export class ClockBehindError extends Error {
  override readonly name = "ClockBehindError";
  constructor(nowMs: number, newestMs: number) {
    super(
      `the clock says ${utc(nowMs)}, and the store was in use at ${
        utc(newestMs)
      }: set the clock right; ` +
        "if it is right, and was wrong then, start once with RELAY_CLOCK_CHECK=off",
    );
  }
}

export interface StoreTimeOptions {
  kv: Deno.Kv;
  now: Clock;
  elapsed: Clock;
}

export class StoreTime {
  /** What was lived when the monotonic clock showed 0. */
  #livedAtZeroMs = 0;
  #writtenAtMs = -Infinity;

  constructor(private readonly options: StoreTimeOptions) {}

  /**
   * Compares the clock with the store's last use, and takes up the count of what was lived.
   * @param check false for RELAY_CLOCK_CHECK=off: a clock that is behind is accepted
   * @returns a note for the operator, null when there is none
   * @throws ClockBehindError
   */
  async open(check: boolean): Promise<string | null> {
    const { kv, now, elapsed } = this.options;
    const newest = await retryWhileLocked(() => kv.get<number>(NEWEST_KEY));
    const lived = await retryWhileLocked(() => kv.get<number>(LIVED_KEY));
    this.#livedAtZeroMs = (lived.value ?? 0) - elapsed();
    const nowMs = now();
    const note = noteOn(nowMs, newest.value, check);
    await this.#write(nowMs);
    return note;
  }

  /** Ms for which relays have run on this store: never more than has really passed. */
  get livedMs(): number {
    return this.#livedAtZeroMs + this.options.elapsed();
  }

  /**
   * Writes both when they were last written a minute ago.
   * @param clock what it does not rely on is not written as the newest time
   */
  async refresh(clock: ClockWatch): Promise<void> {
    if (this.options.elapsed() - this.#writtenAtMs < WRITE_EVERY_MS) return;
    await this.close(clock);
  }

  /** Writes both: nothing of what was lived is lost. */
  async close(clock: ClockWatch): Promise<void> {
    await this.#write(clock.isSure ? this.options.now() : null);
  }

  async #write(nowMs: number | null): Promise<void> {
    const { kv } = this.options;
    await retryWhileLocked(async () => {
      for (;;) {
        // Each process counts a time that has really passed: the longest count is the best.
        const lived = await kv.get<number>(LIVED_KEY);
        const livedMs = Math.max(lived.value ?? 0, this.livedMs);
        this.#livedAtZeroMs += livedMs - this.livedMs;
        const operation = kv.atomic().check(lived).set(LIVED_KEY, livedMs);
        if (nowMs !== null) operation.set(NEWEST_KEY, nowMs);
        if ((await operation.commit()).ok) break;
      }
    });
    this.#writtenAtMs = this.options.elapsed();
  }
}

function noteOn(nowMs: number, newestMs: number | null, check: boolean): string | null {
  if (newestMs === null) return null;
  const isBehind = newestMs - nowMs > BEHIND_MS;
  if (newestMs - nowMs > FAR_MS && check) throw new ClockBehindError(nowMs, newestMs);
  if (isBehind && !check) {
    return `RELAY_CLOCK_CHECK is off: ${utc(nowMs)} is taken for right, the store was in use at ${
      utc(newestMs)
    }; the variable may go now`;
  }
  if (isBehind) {
    return `${utc(nowMs)}, and the store was in use at ${
      utc(newestMs)
    }: what that later time decided waits until the clock passes it; if the clock is right, and was ` +
      "wrong then, a start with RELAY_CLOCK_CHECK=off ends the wait";
  }
  if (nowMs - newestMs <= FAR_MS) return check ? null : "RELAY_CLOCK_CHECK is off";
  return `${utc(nowMs)}, and the store was last in use at ${
    utc(newestMs)
  }: if this relay was not ` +
    "stopped for so long, stop it, set the clock right and restore a backup: what has expired by this " +
    "clock is deleted";
}

function utc(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/\.\d+Z$/, "Z");
}
