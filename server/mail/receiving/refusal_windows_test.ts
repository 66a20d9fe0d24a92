import assert from "node:assert/strict";
import { createTestClock } from "../../../tests/support/clock.ts";
import { HOUR_MS, MINUTE_MS } from "../../base/time/time_units.ts";
import { RefusalWindows } from "./refusal_windows.ts";

function windowsOf() {
  const clock = createTestClock(1_800_000_000_000);
  return { clock, windows: new RefusalWindows(clock.now) };
}

Deno.test("RefusalWindows counts an hour of refusals by name, and no more than a limit", () => {
  const { clock, windows } = windowsOf();
  windows.count("a", 2);
  clock.advance(MINUTE_MS);
  windows.count("a", 2);
  windows.count("a", 2);
  assert.deepEqual([windows.countOf("a"), windows.countOf("b")], [2, 0]);
  assert.deepEqual([windows.waitMs("a", 2), windows.waitMs("a", 3)], [HOUR_MS - MINUTE_MS, null]);
  assert.equal(windows.waitMs("b", 2), null);
  clock.advance(HOUR_MS - MINUTE_MS);
  assert.deepEqual([windows.waitMs("a", 2), windows.countOf("a")], [null, 1]);
  clock.advance(MINUTE_MS);
  assert.equal(windows.countOf("a"), 0);
});

Deno.test("RefusalWindows.reserve() counts what may yet be refused, until it is known", () => {
  const { windows } = windowsOf();
  windows.count("a", 3);
  const [first, second] = [windows.reserve("a"), windows.reserve("a")];
  assert.deepEqual([windows.waitMs("a", 3), windows.waitMs("b", 3)], [MINUTE_MS, null]);
  first();
  assert.deepEqual([windows.waitMs("a", 3), windows.reservedOf("a")], [null, 1]);
  second();
  assert.deepEqual([windows.reservedOf("a"), windows.countOf("a")], [0, 1]);
});

Deno.test("RefusalWindows shuts nobody out for what a clock counted that was ahead", () => {
  const { clock, windows } = windowsOf();
  clock.advance(24 * HOUR_MS);
  for (let i = 0; i < 2; i++) windows.count("a", 2);
  assert.equal(windows.waitMs("a", 2), HOUR_MS);
  clock.advance(-24 * HOUR_MS);
  assert.deepEqual([windows.countOf("a"), windows.waitMs("a", 2)], [0, null]);
  windows.count("a", 2);
  assert.equal(windows.countOf("a"), 1);
});

Deno.test("RefusalWindows keeps a bounded number of names, those that were counted last", () => {
  const { windows } = windowsOf();
  windows.count("first", 5);
  windows.count("busy", 5);
  for (let i = 0; i < 4_095; i++) {
    windows.count(`name ${i}`, 5);
    if (i % 1_000 === 0) windows.count("busy", 5);
  }
  assert.deepEqual([windows.countOf("first"), windows.countOf("busy")], [0, 5]);
});
