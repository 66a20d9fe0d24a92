import assert from "node:assert/strict";
import { stillStands, timeLeftMs } from "./repetition.ts";

Deno.test("stillStands holds until both clocks say that it is over", () => {
  const written = { atMs: 1_000, livedMs: 100 };
  const cases: [nowMs: number, livedMs: number, stands: boolean][] = [
    [1_000, 100, true],
    [1_999, 1_099, true],
    [2_000, 1_100, false],
    [9_000, 1_099, true],
    [1_999, 9_000, true],
    [0, 9_000, true],
    [9_000, 0, true],
  ];
  assert.equal(cases.length, 7);
  for (const [nowMs, livedMs, stands] of cases) {
    assert.equal(stillStands(written, 1_000, { nowMs, livedMs }), stands, `${nowMs}/${livedMs}`);
  }
  assert.equal(stillStands({ atMs: 1_000 }, 1_000, { nowMs: 9_000, livedMs: 999 }), true);
  assert.equal(stillStands({ atMs: 1_000 }, 1_000, { nowMs: 9_000, livedMs: 1_000 }), false);
});

Deno.test("timeLeftMs is the longer rest of both clocks", () => {
  const written = { atMs: 1_000, livedMs: 100 };
  assert.equal(timeLeftMs(written, 1_000, { nowMs: 1_500, livedMs: 700 }), 500);
  assert.equal(timeLeftMs(written, 1_000, { nowMs: 9_000, livedMs: 700 }), 400);
  assert.ok(timeLeftMs(written, 1_000, { nowMs: 9_000, livedMs: 1_100 }) <= 0);
});
