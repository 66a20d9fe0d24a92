import assert from "node:assert/strict";
import { WaitQueue } from "./wait_queue.ts";

Deno.test("WaitQueue gives to who waits longest of those who may have it, and to nobody who gave up", async () => {
  const queue = new WaitQueue<string, number>();
  const abort = new AbortController();
  const waits = [1, 2, 3, 2].map((asked) =>
    queue.wait(asked === 1 ? abort.signal : undefined, asked)
  );
  assert.equal(queue.give("a", (asked) => asked === 2), true);
  abort.abort();
  assert.equal(queue.give("b"), true);
  assert.equal(queue.give("c", (asked) => asked === 3), false);
  assert.equal(queue.length, 1);
  assert.equal(queue.give("d"), true);
  assert.deepEqual(await Promise.all(waits), [null, "a", "b", "d"]);
  assert.equal(queue.give("e"), false);
});

Deno.test("WaitQueue leaves who was given something with it, though it gives up at once", async () => {
  const queue = new WaitQueue<string>();
  const abort = new AbortController();
  const wait = queue.wait(abort.signal);
  queue.give("a");
  abort.abort();
  assert.equal(await wait, "a");
});
