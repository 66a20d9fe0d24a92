import assert from "node:assert/strict";
import { type Clock, MAX_TIMER_MS, sleep, systemClock } from "./clock.ts";

/** Fires at once and notes what it was asked for. */
function eagerClock(): Clock & { asked: number[] } {
  const asked: number[] = [];
  return {
    asked,
    now: () => 0,
    after(delayMs, callback) {
      asked.push(delayMs);
      queueMicrotask(callback);
      return () => {};
    },
  };
}

Deno.test("sleep() splits a wait that no timer of the platform keeps", async () => {
  const clock = eagerClock();
  await sleep(clock, 2 * MAX_TIMER_MS + 5);
  assert.deepEqual(clock.asked, [MAX_TIMER_MS, MAX_TIMER_MS, 5]);
  assert.equal(MAX_TIMER_MS, 2_147_483_647);
});

Deno.test("sleep() waits for nothing where there is nothing to wait for", async () => {
  const clock = eagerClock();
  for (const delayMs of [0, -1, -Infinity]) await sleep(clock, delayMs);
  assert.deepEqual(clock.asked, []);
});

Deno.test("sleep() ends with the signal's reason and takes its timer back", async () => {
  let canceled = 0;
  const clock: Clock = { now: () => 0, after: () => () => void canceled++ };
  const abort = new AbortController();
  const asleep = sleep(clock, 10, abort.signal);
  abort.abort(new Error("enough"));
  await assert.rejects(asleep, /enough/);
  assert.equal(canceled, 1);
  await assert.rejects(sleep(clock, 10, abort.signal), /enough/);
});

Deno.test("systemClock tells the time and takes timers back", async () => {
  assert.ok(Math.abs(systemClock.now() - Date.now()) < 1_000);
  await new Promise<void>((resolve) => {
    const cancel = systemClock.after(0, () => assert.fail("it was taken back"));
    cancel();
    systemClock.after(0, resolve);
  });
});
