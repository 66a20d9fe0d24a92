import assert from "node:assert/strict";
import { createTestClock, TEST_START_MS, type TestClock } from "../../../tests/support/clock.ts";
import { ClockWatch } from "../storage/rows/clock_watch.ts";
import { givenUpAtMs, isGivenUp } from "./given_up_at.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * HOUR_MS;
const T0 = TEST_START_MS;
const DAY = { fromMs: T0, lengthMs: DAY_MS };

function storeOf({ now, elapsed }: TestClock) {
  return { clock: new ClockWatch({ now, elapsed, log: () => {} }) };
}

/** Queued when a clock began. */
const queuedBy = (clock: TestClock) => ({ queuedAtMs: T0, livedMs: clock.elapsed() });

Deno.test("givenUpAtMs() is the end of its time by the wall, to the millisecond, while clocks are right", () => {
  const clock = createTestClock();
  const store = storeOf(clock);
  for (let hour = 0; hour < 24; hour++) {
    assert.equal(givenUpAtMs(queuedBy(clock), DAY, store), T0 + DAY_MS);
    assert.equal(isGivenUp(queuedBy(clock), DAY, store), false);
    clock.advance(HOUR_MS);
  }
  assert.ok(isGivenUp(queuedBy(clock), DAY, store));
});

Deno.test("isGivenUp() goes by the wall alone where nobody knows what was lived, but for ten minutes after a leap", () => {
  const clock = createTestClock();
  const store = storeOf(clock);
  const former = { queuedAtMs: T0, livedMs: null };
  clock.leap(2 * DAY_MS);
  assert.equal(isGivenUp(former, DAY, store), false);
  clock.advance(10 * MINUTE_MS - 1);
  assert.equal(isGivenUp(former, DAY, store), false);
  clock.advance(1);
  assert.ok(isGivenUp(former, DAY, store));
});

Deno.test("isGivenUp() is not by a clock that is ahead for long, until relays have run for as long", () => {
  const clock = createTestClock();
  const store = storeOf(clock);
  clock.leap(30 * DAY_MS);
  store.clock.observe();
  clock.advance(23 * HOUR_MS - 1);
  assert.equal(isGivenUp(queuedBy(clock), DAY, store), false);
  clock.advance(1);
  assert.ok(isGivenUp(queuedBy(clock), DAY, store));
});

Deno.test("isGivenUp() is, of what was queued by a clock that was ahead, when relays have run for its time", () => {
  const clock = createTestClock();
  const store = storeOf(clock);
  for (const aheadMs of [20 * HOUR_MS, 365 * DAY_MS]) {
    const fromMs = T0 + aheadMs;
    const livedFor = (livedMs: number) => ({ queuedAtMs: fromMs, livedMs });
    const trying = { fromMs, lengthMs: DAY_MS };
    assert.equal(isGivenUp(livedFor(25 * HOUR_MS - 1), trying, store), false);
    assert.ok(isGivenUp(livedFor(25 * HOUR_MS), trying, store));
  }
});

Deno.test("isGivenUp() is not before the time that the sender chose is over, however long relays ran before it", () => {
  const clock = createTestClock();
  const store = storeOf(clock);
  const chosen = { fromMs: T0 + 30 * DAY_MS, lengthMs: DAY_MS };
  clock.advance(31 * DAY_MS - 1);
  assert.equal(isGivenUp(queuedBy(clock), chosen, store), false);
  clock.advance(1);
  assert.ok(isGivenUp(queuedBy(clock), chosen, store));
});
