import assert from "node:assert/strict";
import { IdQueue } from "./id_queue.ts";

Deno.test("IdQueue.takeOldest() gives ids in their order, without those that have left", () => {
  const present = new Map<number, true>();
  const queue = new IdQueue();
  for (const id of [5, 3, 9, 7]) {
    present.set(id, true);
    queue.push(id, present);
  }
  present.delete(3);
  present.delete(7);
  assert.deepEqual([1, 2, 3].map(() => queue.takeOldest(present)), [5, 9, undefined]);
});

Deno.test("IdQueue.push() keeps its room in proportion to what is present", () => {
  const present = new Map<number, true>([[1, true]]);
  const queue = new IdQueue();
  queue.push(1, present);
  for (let id = 2; id <= 100_000; id++) {
    present.set(id, true);
    queue.push(id, present);
    assert.ok(queue.size <= 2 * present.size + 1_000);
    if (id > 50) present.delete(id - 48);
  }
  assert.equal(queue.takeOldest(present), 1);
});
