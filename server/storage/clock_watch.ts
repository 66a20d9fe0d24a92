/**
 * Tells when the wall clock has leapt: by comparing it with the monotonic clock, which cannot. After
 * a leap forward nobody can tell at once whether the time before or the time after it was wrong (a
 * machine that slept looks the same), so that nothing is decided until both have agreed for a while. A
 * leap back is the return to a time that has been: what was decided since is in the store.
 */
import type { Clock, Log } from "../deps.ts";
import { unavailable } from "../errors.ts";
import { MINUTE_MS } from "../time_units.ts";

/** Ids and times are meaningful from the first of these on, and before the second. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);
export const LATEST_MS = Date.UTC(2091, 0, 1);

export interface ClockTiming {
  /** By how much wall and monotonic time may part before it is a leap. */
  leapMs: number;
  /** How long both must agree after a leap forward until the new time is taken for right. */
  agreementMs: number;
}

export const CLOCK_TIMING: ClockTiming = { leapMs: 2 * MINUTE_MS, agreementMs: MINUTE_MS };

/** Corrections that are no leap: both clocks agree while they stay within this. */
const SLEW_MS = 1_000;
/** For how long after a leap nothing is given up because of the time that has passed. */
const LATELY_MS = 10 * MINUTE_MS;
/** What a caller is told to wait where only a person can set the clock right. */
const IMPOSSIBLE_RETRY_MS = MINUTE_MS;

/** What the relay thinks of its clock. */
export type ClockState =
  | { state: "steady" }
  /** The wall clock has leapt forward by so much; in `leftMs` it is taken for right if it stays. */
  | { state: "unsure"; leaptMs: number; leftMs: number }
  /** The wall clock is before 2025 or after 2090. */
  | { state: "impossible" };

export interface ClockWatchOptions {
  /** Wall time, unix ms. */
  now: Clock;
  /** Monotonic ms. */
  elapsed: Clock;
  log: Log;
  /** False for RELAY_CLOCK_CHECK=off: leaps are told of, and refuse nothing. */
  check?: boolean;
  timing?: ClockTiming;
}

export class ClockWatch {
  readonly #options: Required<ClockWatchOptions>;
  /** Wall less monotonic time, as it is taken for right. */
  #offsetMs: number;
  /** The same as it was last found, and since when it has been so, by the monotonic clock. */
  #foundMs: number;
  #foundSinceMs: number;
  #isUnsure = false;
  #leaptAtMs = -Infinity;

  constructor(options: ClockWatchOptions) {
    const { check = true, timing = CLOCK_TIMING } = options;
    this.#options = { ...options, check, timing };
    const elapsedMs = options.elapsed();
    this.#offsetMs = this.#foundMs = options.now() - elapsedMs;
    this.#foundSinceMs = elapsedMs;
  }

  /** Compares the clocks; each question does so too, so that no answer is older than its asking. */
  observe(): void {
    const { now, elapsed, log, timing: { leapMs, agreementMs } } = this.#options;
    const elapsedMs = elapsed();
    const offsetMs = now() - elapsedMs;
    if (Math.abs(offsetMs - this.#foundMs) > SLEW_MS) {
      this.#foundMs = offsetMs;
      this.#foundSinceMs = elapsedMs;
    }
    const partedMs = offsetMs - this.#offsetMs;
    if (partedMs < -leapMs) {
      this.#leapt(elapsedMs);
      log("clock_leapt_back", { back_ms: Math.round(-partedMs) });
      this.#offsetMs = offsetMs;
      this.#isUnsure = false;
    } else if (elapsedMs - this.#foundSinceMs >= agreementMs) {
      if (this.#isUnsure) log("clock_taken_for_right", { ahead_ms: Math.round(partedMs) });
      this.#offsetMs = offsetMs;
      this.#isUnsure = false;
    } else if (partedMs > leapMs && !this.#isUnsure) {
      this.#leapt(elapsedMs);
      log("clock_leapt_ahead", { ahead_ms: Math.round(partedMs), refuses: this.#options.check });
      this.#isUnsure = true;
    } else if (partedMs <= leapMs && this.#isUnsure) {
      this.#leapt(elapsedMs);
      log("clock_came_back", {});
      this.#isUnsure = false;
    }
  }

  #leapt(elapsedMs: number): void {
    this.#leaptAtMs = elapsedMs;
  }

  /** How it stands, for the operator. */
  get state(): ClockState {
    this.observe();
    const { now, elapsed, timing: { agreementMs } } = this.#options;
    if (isImpossible(now())) return { state: "impossible" };
    if (!this.#isUnsure) return { state: "steady" };
    const leaptMs = Math.round(this.#foundMs - this.#offsetMs);
    return { state: "unsure", leaptMs, leftMs: this.#foundSinceMs + agreementMs - elapsed() };
  }

  /** Whether what rests on the clock may be decided now. */
  get isSure(): boolean {
    this.observe();
    return !(this.#isUnsure && this.#options.check) && !isImpossible(this.#options.now());
  }

  /** @throws RelayError `unavailable` while the clock cannot be relied on */
  requireSure(): void {
    if (this.isSure) return;
    const state = this.state;
    if (state.state === "unsure") throw unsure(state.leftMs);
    throw impossible();
  }

  /** Whether a leap of either kind was found in the last ten minutes of monotonic time. */
  get leaptLately(): boolean {
    this.observe();
    return this.#options.elapsed() - this.#leaptAtMs < LATELY_MS;
  }

  /**
   * The times that may be right, in unix ms: one, or after a leap forward the one before it, gone on by
   * the monotonic clock, and the one after it.
   */
  get possibleTimes(): readonly number[] {
    this.observe();
    const { now, elapsed } = this.#options;
    return this.#isUnsure ? [this.#offsetMs + elapsed(), now()] : [now()];
  }
}

/** Whether no relay may run by this time. */
export function isImpossible(nowMs: number): boolean {
  return !(nowMs >= EARLIEST_MS && nowMs < LATEST_MS);
}

function unsure(leftMs: number) {
  return unavailable(
    "the relay's clock has leapt ahead, and until that is settled nothing is taken that the clock decides; " +
      "repeat the same request after Retry-After",
    Math.ceil(leftMs),
  );
}

function impossible() {
  return unavailable(
    "the relay's clock is not between 2025 and 2090: its operator has to set it right; repeat the same request later",
    IMPOSSIBLE_RETRY_MS,
  );
}
