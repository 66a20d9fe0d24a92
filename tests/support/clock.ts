/** A clock that tests move. */
export interface TestClock {
  /** Unix time in milliseconds. */
  now: () => number;
  /** The same time in whole seconds, as signed timestamps have it. */
  seconds: () => number;
  advance(ms: number): void;
  set(ms: number): void;
}

/** The time at which tests begin unless they say otherwise. */
export const TEST_START_MS = Date.UTC(2026, 5, 1, 12);

/** A clock that stays at its time until it is moved. */
export function createTestClock(startMs = TEST_START_MS): TestClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    seconds: () => Math.floor(nowMs / 1000),
    advance: (ms) => void (nowMs += ms),
    set: (ms) => void (nowMs = ms),
  };
}
