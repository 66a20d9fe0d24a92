import assert from "node:assert/strict";
import { createTestClock } from "../../../tests/support/clock.ts";
import { MINUTE_MS } from "../time/time_units.ts";
import { RecentWrites } from "./recent_writes.ts";

const NAME = ["org_1", "01KT1GW6G0AWPFZ3BQRSNC2WEA"];
const OTHER = ["org_1", "01KT1GW6G0AWPFZ3BQRSNC2WEB"];

Deno.test("RecentWrites lets a write be kept for ten minutes, and knows it for twenty", () => {
  const clock = createTestClock();
  const recent = new RecentWrites(clock);
  assert.equal(recent.plan(NAME, 3), false);
  recent.add(NAME, 3);
  assert.equal(recent.has(NAME), true);
  clock.advance(10 * MINUTE_MS - 1);
  assert.equal(recent.plan(NAME, 3), true);
  clock.advance(1);
  assert.equal(recent.plan(NAME, 3), false);
  assert.equal(recent.has(NAME), true);
  clock.advance(10 * MINUTE_MS - 1);
  assert.equal(recent.has(NAME), true);
  clock.advance(1);
  assert.equal(recent.has(NAME), false);
  assert.equal(recent.giveUp(NAME), false);
  recent.add(OTHER, 3);
  assert.equal(recent.has(OTHER), true);
});

Deno.test("RecentWrites lets nothing be kept that is too old by either clock", () => {
  const [hour, day] = [60 * MINUTE_MS, 24 * 60 * MINUTE_MS];
  const moves: ((clock: ReturnType<typeof createTestClock>) => void)[] = [
    (clock) => clock.leap(hour), // the machine slept
    (clock) => clock.advance(hour),
    (clock) => {
      clock.advance(hour);
      clock.leap(-day); // frozen, and set back meanwhile
    },
  ];
  assert.equal(moves.length, 3);
  for (const move of moves) {
    const clock = createTestClock();
    const recent = new RecentWrites(clock);
    recent.add(NAME, 3);
    move(clock);
    assert.equal(recent.plan(NAME, 3), false);
  }
  const clock = createTestClock();
  const recent = new RecentWrites(clock);
  recent.add(NAME, 3);
  clock.leap(-day);
  assert.equal(recent.plan(NAME, 3), true, "a clock that was set back makes nothing old");
  clock.leap(400 * day);
  assert.equal(recent.has(NAME), true, "no sweep of its own goes by the wall clock");
});

Deno.test("RecentWrites refuses what was given up, and what a sweep may have taken", () => {
  const recent = new RecentWrites(createTestClock());
  recent.add(NAME, 3);
  assert.equal(recent.plan(NAME, 4), false);
  assert.equal(recent.plan(NAME, 0), false);
  assert.equal(recent.plan(NAME, 3), true);
  assert.equal(recent.giveUp(NAME), false, "its commit may still come");
  assert.equal(recent.plan(NAME, 3), true);
  recent.add(OTHER, 3);
  assert.equal(recent.giveUp(OTHER), true);
  assert.equal(recent.plan(OTHER, 3), false);
  assert.equal(recent.giveUp(OTHER), false);
});
