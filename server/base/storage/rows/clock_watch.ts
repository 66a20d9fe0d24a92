/**
 * Tells when the wall clock has leapt: by comparing it with the monotonic clock, which cannot. After
 * a leap forward nobody can tell at once whether the time before or the time after it was wrong (a
 * machine that slept looks the same), so that nothing is decided until both have agreed for a while. A
 * leap back is the return to a time that has been: what was decided since is in the store.
 */
import type { Clock } from "../../time/clock.ts";
import type { Log } from "../../log.ts";
import { type RelayError, unavailable } from "../../errors.ts";
import { CLOCK_SKEW_MS } from "../../time/clock_skew.ts";
import { MINUTE_MS } from "../../time/time_units.ts";

/** Ids and times are meaningful from the first of these on, and before the second. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);
const LATEST_MS = Date.UTC(2091, 0, 1);

export interface ClockTiming {
  /** By how much wall and monotonic time may part before it is a leap. */
  leapMs: number;
  /** How long both must agree after a leap forward until the new time is taken for right. */
  agreementMs: number;
}

export const CLOCK_TIMING: ClockTiming = { leapMs: 2 * MINUTE_MS, agreementMs: MINUTE_MS };

/**
 * Corrections that are no leap: both clocks agree while they stay within this, as hosts' clocks do. A
 * machine whose clocks drift apart by less a minute, such as a virtual one, is not unsure for ever.
 */
const SLEW_MS = CLOCK_SKEW_MS;
/** For how long after a leap nothing is given up because of the time that has passed. */
const LATELY_MS = 10 * MINUTE_MS;
/** What a caller is told to wait where only a person can set the clock right. */
const IMPOSSIBLE_RETRY_MS = MINUTE_MS;

/** What the relay thinks of its clock. */
export type ClockState =
  | { state: "steady" }
  /** The wall clock has leapt forward by so much; in `leftMs` it is taken for right if it stays. */
  | { state: "unsure"; leaptMs: number; leftMs: number }
  /** Until this time of the wall clock, unix ms, what was decided by a later one waits. */
  | { state: "behind"; untilMs: number }
  /** The wall clock is before 2025 or after 2090. */
  | { state: "impossible" };

export interface ClockWatchOptions {
  /** Wall time, unix ms. */
  now: Clock;
  /** Monotonic ms. */
  elapsed: Clock;
  log: Log;
  /** False for RELAY_CLOCK_CHECK=off: leaps are logged, and the wall clock is taken at its word. */
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
  /** The wall clock is ahead of what is taken for right, or impossible. */
  #isParted = false;
  #isImpossible = false;
  /** The newest time that the wall clock has gone back from, and not come up to since. */
  #laterMs = -Infinity;
  #leaptAtMs = -Infinity;
  /** Both clocks as they were last read. */
  #wallMs: number;
  #elapsedMs: number;

  constructor(options: ClockWatchOptions) {
    const { check = true, timing = CLOCK_TIMING } = options;
    this.#options = { ...options, check, timing };
    this.#wallMs = options.now();
    this.#elapsedMs = options.elapsed();
    this.#offsetMs = this.#foundMs = this.#wallMs - this.#elapsedMs;
    this.#foundSinceMs = this.#elapsedMs;
  }

  /** Compares the clocks; each question does so too, so that no answer is older than its asking. */
  observe(): void {
    const { now, elapsed, log, check, timing: { leapMs, agreementMs } } = this.#options;
    const elapsedMs = this.#elapsedMs = elapsed();
    const nowMs = this.#wallMs = now();
    const offsetMs = nowMs - elapsedMs;
    if (Math.abs(offsetMs - this.#foundMs) > SLEW_MS) {
      this.#foundMs = offsetMs;
      this.#foundSinceMs = elapsedMs;
      if (this.#isParted) this.#leaptAtMs = elapsedMs; // once more, or back
    }
    const partedMs = offsetMs - this.#offsetMs;
    if (isImpossible(nowMs)) {
      // Never taken for right, however long it stays.
      if (this.#isImpossible) return;
      this.#isImpossible = true;
      this.#part();
      log("clock_impossible", { note: "it is not between 2025 and 2090: set it right" });
      return;
    }
    this.#isImpossible = false;
    if (partedMs < -leapMs) {
      const laterMs = this.#reliedMs();
      this.#accept(offsetMs);
      this.#leaptAtMs = elapsedMs;
      log("clock_leapt_back", { back_ms: Math.round(-partedMs) });
      this.wasAt(laterMs);
    } else if (elapsedMs - this.#foundSinceMs >= agreementMs) {
      if (this.#isParted) log("clock_taken_for_right", { ahead_ms: Math.round(partedMs) });
      this.#accept(offsetMs);
    } else if (partedMs > leapMs && !this.#isParted) {
      this.#part();
      log("clock_leapt_ahead", { ahead_ms: Math.round(partedMs), note: aheadNote(check) });
    } else if (partedMs <= leapMs && this.#isParted) {
      this.#accept(this.#offsetMs);
      this.#leaptAtMs = elapsedMs;
      log("clock_came_back", {});
    }
    if (this.#laterMs !== -Infinity && !this.#isParted && nowMs >= this.#laterMs - leapMs) {
      this.#laterMs = -Infinity;
      log("clock_caught_up", {});
    }
  }

  /** In whole ms, as the wall clock's are: the monotonic one has fractions, which no row takes. */
  #reliedMs(): number {
    return Math.floor(this.#offsetMs + this.#elapsedMs);
  }

  #part(): void {
    this.#isParted = true;
    this.#leaptAtMs = this.#elapsedMs;
  }

  #accept(offsetMs: number): void {
    this.#isParted = false;
    this.#offsetMs = offsetMs;
  }

  /**
   * Reports a later time that things were decided by before: at a start the newest in the store.
   * @param laterMs unix ms; ignored where it is no further ahead than a leap
   */
  wasAt(laterMs: number): void {
    const { check, timing: { leapMs } } = this.#options;
    if (check && laterMs - this.#wallMs > leapMs) this.#laterMs = Math.max(this.#laterMs, laterMs);
  }

  /**
   * The time that everything is decided by, in unix ms: the wall clock's; while it cannot be relied on,
   * the time before its leap, advanced by the monotonic clock. Reads then show things as they were.
   */
  get nowMs(): number {
    this.observe();
    return this.#isUnsure ? this.#reliedMs() : this.#wallMs;
  }

  /** Impossible times are never taken at their word. */
  get #isUnsure(): boolean {
    return this.#isParted && (this.#options.check || isImpossible(this.#wallMs));
  }

  /** How it stands, for the operator. */
  get state(): ClockState {
    this.observe();
    if (isImpossible(this.#wallMs)) return { state: "impossible" };
    if (this.#isUnsure) {
      const leaptMs = Math.round(this.#foundMs - this.#offsetMs);
      const agreedMs = this.#elapsedMs - this.#foundSinceMs;
      return { state: "unsure", leaptMs, leftMs: this.#options.timing.agreementMs - agreedMs };
    }
    return this.#laterMs === -Infinity
      ? { state: "steady" }
      : { state: "behind", untilMs: this.#laterMs };
  }

  /** Whether what rests on the clock may be decided now. */
  get isSure(): boolean {
    this.observe();
    return !this.#isUnsure;
  }

  /** What is refused while the clock cannot be relied on: 503 `unavailable`; null while it can be. */
  get refusal(): RelayError | null {
    const current = this.state;
    if (current.state === "unsure") return unsure(current.leftMs);
    return current.state === "impossible" ? impossibleClock() : null;
  }

  /** @throws RelayError `unavailable` while the clock cannot be relied on */
  requireSure(): void {
    const { refusal } = this;
    if (refusal !== null) throw refusal;
  }

  /** Whether a leap of either kind was found in the last ten minutes of monotonic time. */
  get leaptLately(): boolean {
    return this.sinceLeapMs < LATELY_MS;
  }

  /** Monotonic ms since a leap of either kind was found last; Infinity before the first. */
  get sinceLeapMs(): number {
    this.observe();
    return this.#elapsedMs - this.#leaptAtMs;
  }

  /**
   * Begins to measure, for callers that must not have been away for longer than something lasts.
   * @returns ms since then by the clock that shows more: the monotonic one goes on while the wall stands or
   * leaps, and the wall while the machine sleeps. A wall that leapt back counts as much as one that leapt
   * ahead: what was stored by it is as wrong for others.
   */
  stopwatch(): () => number {
    const { now, elapsed } = this.#options;
    const [wallMs, monotonicMs] = [now(), elapsed()];
    return () => Math.max(elapsed() - monotonicMs, Math.abs(now() - wallMs));
  }

  /**
   * The times that may be right, in unix ms, the wall clock's last: one, or after a leap forward the
   * one before it too.
   */
  get possibleTimes(): readonly number[] {
    const relied = this.nowMs;
    return this.#isUnsure ? [relied, this.#wallMs] : [relied];
  }
}

function aheadNote(check: boolean): string {
  return check
    ? "the machine slept, or its clock was set: reads go on, and writes are answered 503 until the clock has stayed for a minute"
    : "RELAY_CLOCK_CHECK is off: the clock is taken at its word";
}

/** Whether no relay may run by this time. */
export function isImpossible(nowMs: number): boolean {
  return !(nowMs >= EARLIEST_MS && nowMs < LATEST_MS);
}

/** @throws Error when no relay may start by this time: the message says what to do */
export function requirePossible(nowMs: number): void {
  if (!isImpossible(nowMs)) return;
  throw new Error(
    `the clock says ${
      new Date(nowMs).toISOString()
    }; set it right: a relay runs between 2025 and 2090`,
  );
}

function unsure(leftMs: number): RelayError {
  return unavailable(
    "the relay's clock has leapt ahead, and until that is settled nothing is taken that the clock decides; " +
      `repeat the same request in ${Math.ceil(leftMs / 1000)} s`,
    Math.ceil(leftMs),
  );
}

/** The refusal while the clock says a time at which no relay may run. */
export function impossibleClock(): RelayError {
  return unavailable(
    "the relay's clock is not between 2025 and 2090: its operator has to set it right, and until then nothing is taken that the clock decides; repeat the same request later",
    IMPOSSIBLE_RETRY_MS,
  );
}
