/** A clock that tests move. */
export interface TestClock {
  /** Unix time in milliseconds. */
  now: () => number;
  /** Monotonic milliseconds. */
  elapsed: () => number;
  /** The wall time in whole seconds, as in signed timestamps. */
  seconds: () => number;
  /** Time passes by both clocks; backwards, the wall clock leaps. */
  advance(ms: number): void;
  /** As advance(), to a wall time. */
  set(ms: number): void;
  /** The wall clock leaps alone. */
  leap(ms: number): void;
}

/** The time at which tests begin unless they say otherwise. */
export const TEST_START_MS = Date.UTC(2026, 5, 1, 12);

/** A clock that stays at its time until it is moved. */
export function createTestClock(startMs = TEST_START_MS): TestClock {
  let nowMs = startMs;
  let elapsedMs = 0;
  const advance = (ms: number) => {
    nowMs += ms;
    elapsedMs += Math.max(0, ms);
  };
  return {
    now: () => nowMs,
    elapsed: () => elapsedMs,
    seconds: () => Math.floor(nowMs / 1000),
    advance,
    set: (ms) => advance(ms - nowMs),
    leap(ms) {
      nowMs += ms;
      elapsedMs += 0.25; // a real one shows fractions, which the wall clock does not
    },
  };
}

/** The monotonic clock of a test that gives its own wall clock: it advances as far as that one does. */
export function elapsedOf(now: () => number): () => number {
  let atMs = now();
  let elapsedMs = 0;
  return () => {
    const nowMs = now();
    elapsedMs += Math.max(0, nowMs - atMs);
    atMs = nowMs;
    return elapsedMs;
  };
}
