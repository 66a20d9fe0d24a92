import assert from "node:assert/strict";
import { createTestClock, TEST_START_MS } from "../../tests/support/clock.ts";
import { RelayError } from "../errors.ts";
import { ClockWatch, isImpossible } from "./clock_watch.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function watchClock(check = true) {
  const clock = createTestClock();
  const logged: string[] = [];
  const watch = new ClockWatch({ ...clock, log: (event) => void logged.push(event), check });
  return { clock, watch, logged };
}

Deno.test("ClockWatch refuses after a leap forward until both clocks have agreed for a minute", () => {
  const { clock, watch, logged } = watchClock();
  clock.advance(9 * HOUR_MS);
  assert.deepEqual(watch.state, { state: "steady" }, "time that passes is no leap");
  clock.leap(9 * HOUR_MS);
  assert.deepEqual(watch.state, { state: "unsure", leaptMs: 9 * HOUR_MS, leftMs: MINUTE_MS });
  clock.advance(MINUTE_MS - 1);
  assert.throws(() => watch.requireSure(), (error) => {
    assert.ok(error instanceof RelayError);
    assert.deepEqual([error.code, error.retryAfterMs], ["unavailable", 1]);
    return true;
  });
  assert.deepEqual(watch.possibleTimes, [clock.now() - 9 * HOUR_MS, clock.now()]);
  clock.advance(1);
  watch.requireSure();
  assert.deepEqual(watch.possibleTimes, [clock.now()]);
  assert.deepEqual(logged, ["clock_leapt_ahead", "clock_taken_for_right"]);
});

Deno.test("ClockWatch counts the minute anew for a clock that goes on leaping", () => {
  const { clock, watch } = watchClock();
  clock.leap(HOUR_MS);
  for (let i = 0; i < 10; i++) {
    assert.equal(watch.isSure, false);
    clock.advance(MINUTE_MS / 2);
    clock.leap(2_000);
  }
  assert.equal(watch.isSure, false);
  clock.advance(MINUTE_MS);
  assert.equal(watch.isSure, true);
});

Deno.test("ClockWatch takes a clock that comes back at its word at once", () => {
  const { clock, watch, logged } = watchClock();
  clock.leap(HOUR_MS);
  assert.equal(watch.isSure, false);
  clock.advance(15_000);
  clock.leap(-HOUR_MS);
  assert.equal(watch.isSure, true);
  assert.deepEqual(logged, ["clock_leapt_ahead", "clock_came_back"]);
});

Deno.test("ClockWatch tells of a leap back, and refuses nothing", () => {
  const { clock, watch, logged } = watchClock();
  clock.leap(-HOUR_MS);
  assert.deepEqual([watch.isSure, watch.leaptLately], [true, true]);
  assert.deepEqual(logged, ["clock_leapt_back"]);
  clock.advance(10 * MINUTE_MS);
  assert.equal(watch.leaptLately, false);
});

Deno.test("ClockWatch follows a clock that is set right little by little", () => {
  const { clock, watch, logged } = watchClock();
  for (let i = 0; i < 100; i++) {
    clock.advance(2 * MINUTE_MS);
    clock.leap(i % 10 === 0 ? 100_000 : 100);
    assert.equal(watch.isSure, true);
    clock.advance(2 * MINUTE_MS);
    assert.equal(watch.isSure, true);
  }
  assert.deepEqual(logged, []);
});

Deno.test("ClockWatch adds up small steps that come too fast to be agreed on", () => {
  const { clock, watch } = watchClock();
  clock.leap(100_000);
  assert.equal(watch.isSure, true);
  clock.advance(MINUTE_MS / 2);
  clock.leap(100_000);
  assert.equal(watch.isSure, false);
});

Deno.test("ClockWatch without its check tells of leaps and refuses nothing but the impossible", () => {
  const { clock, watch, logged } = watchClock(false);
  clock.leap(HOUR_MS);
  watch.requireSure();
  assert.equal(watch.state.state, "unsure");
  assert.deepEqual(logged, ["clock_leapt_ahead"]);
  clock.set(Date.UTC(2091, 0, 1));
  assert.throws(() => watch.requireSure(), { code: "unavailable" });
});

Deno.test("ClockWatch never takes a clock outside 2025 to 2090 for right", () => {
  const { clock, watch } = watchClock();
  clock.leap(Date.UTC(2091, 0, 1) - TEST_START_MS);
  for (let i = 0; i < 3; i++) {
    assert.deepEqual([watch.state.state, watch.isSure], ["impossible", false]);
    clock.advance(MINUTE_MS);
  }
  assert.deepEqual(
    [Date.UTC(2025, 0, 1) - 1, Date.UTC(2025, 0, 1), Date.UTC(2091, 0, 1) - 1, NaN].map(
      isImpossible,
    ),
    [true, false, false, true],
  );
});
