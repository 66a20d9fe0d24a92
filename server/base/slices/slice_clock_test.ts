import assert from "node:assert/strict";
import { SliceClock } from "./slice_clock.ts";

Deno.test("SliceClock.next() rests by what was worked, and begins a slice, as begin() does", async () => {
  let nowMs = 0;
  const worked: number[] = [];
  const restMs = (workedMs: number) => worked.push(workedMs);
  const clock = new SliceClock(() => nowMs, { sliceMs: 5, restMs });
  nowMs = 4;
  assert.equal(clock.isOver, false);
  nowMs = 7;
  assert.equal(clock.isOver, true);
  await clock.next();
  assert.deepEqual([clock.isOver, worked], [false, [7]]);
  nowMs = 11;
  clock.begin();
  nowMs = 15;
  assert.equal(clock.isOver, false);
});
