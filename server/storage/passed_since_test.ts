import assert from "node:assert/strict";
import { createTestClock } from "../../tests/support/clock.ts";
import { storeTimes } from "../../tests/support/storage.ts";
import { passedSince } from "./passed_since.ts";

Deno.test("passedSince() counts what either clock shows, and a leap back as one ahead", () => {
  const clock = createTestClock();
  const passed = passedSince(storeTimes(clock));
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
