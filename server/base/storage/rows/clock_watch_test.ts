import assert from "node:assert/strict";
import { createTestClock, TEST_START_MS } from "../../../../tests/support/clock.ts";
import { RelayError } from "../../errors.ts";
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
  assert.equal(watch.nowMs, clock.now() - 9 * HOUR_MS, "what is read is read as before");
  clock.advance(1);
  watch.requireSure();
  assert.deepEqual(watch.possibleTimes, [clock.now()]);
  assert.equal(watch.nowMs, clock.now());
  assert.deepEqual(logged, ["clock_leapt_ahead", "clock_taken_for_right"]);
});

Deno.test("ClockWatch counts the minute anew for a clock that goes on leaping", () => {
  const { clock, watch } = watchClock();
  clock.leap(HOUR_MS);
  for (let i = 0; i < 10; i++) {
    assert.equal(watch.isSure, false);
    clock.advance(MINUTE_MS / 2);
    clock.leap(6_000);
  }
  assert.equal(watch.isSure, false);
  clock.advance(MINUTE_MS);
  assert.equal(watch.isSure, true);
});

Deno.test("ClockWatch.leaptLately counts from the last leap of a machine that sleeps again and again", () => {
  const { clock, watch } = watchClock();
  for (let wakes = 0; wakes < 30; wakes++) {
    clock.leap(15 * MINUTE_MS);
    assert.equal(watch.isSure, false);
    clock.advance(MINUTE_MS / 2);
  }
  clock.advance(MINUTE_MS / 2);
  assert.deepEqual([watch.isSure, watch.leaptLately], [true, true]);
  clock.advance(9 * MINUTE_MS);
  assert.equal(watch.leaptLately, false);
});

Deno.test("ClockWatch.leaptLately counts from the end of an impossible time", () => {
  const { clock, watch } = watchClock();
  const aheadMs = Date.UTC(2094, 0, 1) - clock.now();
  clock.leap(aheadMs);
  assert.equal(watch.isSure, false);
  clock.advance(24 * HOUR_MS);
  assert.equal(watch.isSure, false);
  clock.leap(HOUR_MS - aheadMs);
  assert.equal(watch.isSure, false);
  clock.advance(MINUTE_MS);
  assert.deepEqual([watch.isSure, watch.leaptLately], [true, true]);
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

Deno.test("ClockWatch tells of a leap back until the clock has caught up, and refuses nothing", () => {
  const { clock, watch, logged } = watchClock();
  const laterMs = clock.now();
  clock.leap(-HOUR_MS);
  assert.deepEqual([watch.isSure, watch.leaptLately], [true, true]);
  assert.deepEqual(watch.state, { state: "behind", untilMs: laterMs });
  assert.deepEqual(logged, ["clock_leapt_back"]);
  clock.advance(10 * MINUTE_MS);
  assert.equal(watch.leaptLately, false);
  clock.leap(-HOUR_MS);
  assert.deepEqual(watch.state, { state: "behind", untilMs: laterMs }, "the newest time counts");
  clock.advance(2 * HOUR_MS - 12 * MINUTE_MS - 1);
  assert.equal(watch.state.state, "behind");
  clock.advance(1);
  assert.deepEqual(watch.state, { state: "steady" }, "two minutes are no leap");
  assert.equal(logged.at(-1), "clock_caught_up");
});

Deno.test("ClockWatch.wasAt() tells of a later time of before, not of one within a leap", () => {
  const { clock, watch } = watchClock();
  const state = (): string => watch.state.state;
  watch.wasAt(clock.now() + 2 * MINUTE_MS);
  assert.equal(state(), "steady");
  watch.wasAt(clock.now() + HOUR_MS);
  assert.equal(state(), "behind");
  clock.leap(HOUR_MS);
  assert.equal(state(), "unsure");
  clock.advance(MINUTE_MS);
  assert.equal(state(), "steady");
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

Deno.test("ClockWatch agrees with clocks that drift apart by seconds a minute, after a leap too", () => {
  const { clock, watch } = watchClock();
  clock.leap(HOUR_MS);
  assert.equal(watch.isSure, false);
  for (let second = 0; second < 60; second++) {
    clock.advance(1_000);
    clock.leap(50);
  }
  assert.equal(watch.isSure, true);
  for (let minute = 0; minute < 100; minute++) {
    clock.advance(MINUTE_MS);
    clock.leap(3_000);
    assert.equal(watch.isSure, true);
  }
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
  assert.equal(watch.nowMs, clock.now());
  assert.deepEqual([watch.state.state, watch.leaptLately], ["steady", true]);
  assert.deepEqual(watch.possibleTimes, [clock.now()]);
  clock.leap(-9 * HOUR_MS);
  assert.equal(watch.state.state, "steady");
  assert.deepEqual(logged, ["clock_leapt_ahead", "clock_leapt_back"]);
  clock.leap(Date.UTC(2091, 0, 1) - clock.now());
  assert.throws(() => watch.requireSure(), { code: "unavailable" });
});

Deno.test("ClockWatch never takes a clock outside 2025 to 2090 for right", () => {
  const { clock, watch, logged } = watchClock();
  clock.leap(Date.UTC(2091, 0, 1) - TEST_START_MS);
  for (let i = 0; i < 3; i++) {
    assert.deepEqual([watch.state.state, watch.isSure], ["impossible", false]);
    assert.equal(watch.nowMs, TEST_START_MS + i * MINUTE_MS);
    clock.advance(MINUTE_MS);
  }
  clock.leap(TEST_START_MS - Date.UTC(2091, 0, 1));
  assert.equal(watch.isSure, true, "set right");
  clock.leap(-TEST_START_MS);
  assert.deepEqual([watch.state.state, watch.isSure], ["impossible", false], "1970");
  clock.leap(TEST_START_MS);
  clock.leap(HOUR_MS);
  assert.equal(watch.state.state, "unsure");
  clock.leap(Date.UTC(2094, 0, 1) - TEST_START_MS);
  assert.equal(watch.isSure, false);
  assert.deepEqual(logged, [
    "clock_impossible",
    "clock_came_back",
    "clock_impossible",
    "clock_impossible",
  ]);
  assert.deepEqual(
    [Date.UTC(2025, 0, 1) - 1, Date.UTC(2025, 0, 1), Date.UTC(2091, 0, 1) - 1, NaN].map(
      isImpossible,
    ),
    [true, false, false, true],
  );
});

Deno.test("ClockWatch.stopwatch() counts what either clock shows, and a leap back as one ahead", () => {
  const { clock, watch } = watchClock();
  const passed = watch.stopwatch();
  const passedMs = () => Math.floor(passed());
  assert.equal(passedMs(), 0);
  clock.advance(1_000);
  assert.equal(passedMs(), 1_000);
  clock.leap(9_000);
  assert.equal(passedMs(), 10_000);
  clock.leap(-30_000);
  assert.equal(passedMs(), 20_000);
  clock.leap(20_000);
  clock.advance(1_000);
  assert.equal(passedMs(), 2_000);
});
