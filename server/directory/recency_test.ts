import assert from "node:assert/strict";
import { Recency } from "./recency.ts";
import fc from "../../tests/support/seeded_fast_check.ts";

Deno.test("Recency.walk() is sorted by time, ties by descending id, after any touches", () => {
  const touches = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 60 })),
    {
      maxLength: 300,
    },
  );
  fc.assert(fc.property(touches, fc.nat(300), (given, walkAt) => {
    const recency = new Recency();
    const seen = new Map<number, number>();
    const expected = () =>
      [...seen].sort(([a, aMs], [b, bMs]) => bMs - aMs || b - a).map(([id]) => id);
    for (const [i, [agentId, seenMs]] of given.entries()) {
      recency.touch(agentId, seenMs);
      seen.set(agentId, Math.max(seenMs, seen.get(agentId) ?? 0));
      if (i === walkAt) assert.deepEqual([...recency.walk()], expected());
    }
    assert.deepEqual([...recency.walk()], expected());
  }));
});

Deno.test("Recency sorts anew after touches far from its front, and beyond its first capacity", () => {
  const recency = new Recency();
  for (let agentId = 1; agentId <= 5_000; agentId++) recency.touch(agentId, 10 * agentId);
  recency.touch(7, 1_005);
  const order = [...recency.walk()];
  assert.equal(order.length, 5_000);
  assert.deepEqual(order.slice(0, 3), [5_000, 4_999, 4_998]);
  assert.deepEqual(order.slice(order.indexOf(7) - 1, order.indexOf(7) + 2), [101, 7, 100]);
  recency.touch(3, 60_000);
  assert.equal([...recency.walk()][0], 3);
  assert.equal(recency.seenMs(3), 60_000);
  assert.equal(recency.seenMs(99_999), 0);
});
