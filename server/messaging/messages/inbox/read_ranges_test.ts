import assert from "node:assert/strict";
import { addRange, isRead, unreadGaps } from "./read_ranges.ts";
import fc from "../../../../tests/support/seeded_fast_check.ts";

Deno.test("addRange(), isRead() and unreadGaps() agree with a set of ids", () => {
  const range = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 12 }));
  fc.assert(fc.property(fc.array(range), fc.integer({ min: 1, max: 70 }), (added, first) => {
    let ranges: number[] = [];
    const read = new Set<number>();
    for (const [from, length] of added) {
      ranges = addRange(ranges, from, from + length);
      for (let id = from; id <= from + length; id++) read.add(id);
    }
    for (let id = 1; id < 80; id++) assert.equal(isRead(ranges, id), read.has(id), `id ${id}`);
    for (let i = 1; i < ranges.length; i++) {
      assert.ok(ranges[i]! >= ranges[i - 1]! + (i % 2 === 0 ? 2 : 0), "ascending, not adjacent");
    }
    const unread = new Set<number>();
    for (const [from, last] of unreadGaps(ranges, first)) {
      for (let id = from; id <= Math.min(last, 80); id++) unread.add(id);
    }
    for (let id = 1; id < 80; id++) {
      assert.equal(unread.has(id), id >= first && !read.has(id), `gap at ${id}`);
    }
  }));
});

Deno.test("addRange() keeps an agent that follows its cursor at one range", () => {
  let ranges = addRange([], 1, 500);
  ranges = addRange(ranges, 501, 900);
  assert.deepEqual(ranges, [1, 900]);
});
