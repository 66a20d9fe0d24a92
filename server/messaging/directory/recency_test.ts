import assert from "node:assert/strict";
import { Recency } from "./recency.ts";
import fc from "../../../tests/support/seeded_fast_check.ts";

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

Deno.test("Recency.sort() works while agents are seen, and while others walk", async () => {
  for (const walksAt of [-1, 2, 8]) {
    const recency = new Recency();
    const seen = new Map<number, number>();
    const touch = (agentId: number, seenMs: number) => {
      recency.touch(agentId, seenMs);
      seen.set(agentId, Math.max(seenMs, seen.get(agentId) ?? 0));
    };
    const count = 450_000;
    for (let i = 1; i <= count; i++) touch(i * 2, 1_000_000 + (i * 7_919) % 5_000_011);
    const expected = () =>
      [...seen].sort(([a, aMs], [b, bMs]) => bMs - aMs || b - a).map(([id]) => id);
    let pauses = 0;
    await recency.sort(async () => {
      pauses++;
      const at = pauses * 100;
      touch(at, 9_000_000 + pauses); // known
      touch(at + 1, 9_000_000 - pauses); // new
      touch(at - 98, 9_000_100 + pauses); // again
      touch(2 * count + 10_001 + pauses, 9_000_000); // beyond what there is room for
      if (pauses === walksAt) assert.deepEqual([...recency.walk()], expected());
      await Promise.resolve();
    });
    assert.ok(pauses >= (walksAt > 0 ? walksAt : 6), `${pauses} pauses`);
    touch(10, 9_999_999);
    assert.deepEqual([...recency.walk()], expected());
  }
});
