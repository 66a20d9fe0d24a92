import assert from "node:assert/strict";
import type { Job } from "./job.ts";
import { JobQueue, type Pending, QUEUE_BOUNDS } from "./job_queue.ts";

function job(bytes = 100): Job<unknown, unknown> {
  return {
    records: [["box", "a"]],
    sizeBytes: bytes,
    plan: () => null,
  };
}

interface TestQueue {
  queue: JobQueue;
  clock: { nowMs: number };
  answers: unknown[];
  admit: (bytes?: number) => Pending;
}

function openTestQueue(bounds = QUEUE_BOUNDS): TestQueue {
  const clock = { nowMs: 0 };
  const queue = new JobQueue(bounds, () => clock.nowMs);
  const answers: unknown[] = [];
  const caller = {
    prepared: { value: undefined, reads: new Map() },
    records: new Map(),
    resolve: (value: unknown) => void answers.push(value),
    reject: (error: unknown) => void answers.push(error),
    verified: null,
  };
  return { queue, clock, answers, admit: (bytes) => queue.admit(job(bytes), caller) };
}

Deno.test("JobQueue answers a caller once, whatever comes later", () => {
  const { queue, answers, admit } = openTestQueue();
  const pending = admit();
  queue.resolve(pending, 1);
  queue.reject(pending, new Error("late"));
  queue.resolve(pending, 2);
  assert.deepEqual(answers, [1]);
  assert.equal(queue.size, 0);
});

Deno.test("JobQueue admits nothing new while no answer comes, and again when one has come", () => {
  const { queue, clock, admit } = openTestQueue();
  clock.nowMs = 1_000_000; // idle for long: no reason to refuse
  const first = admit();
  clock.nowMs += QUEUE_BOUNDS.refuseAfterMs;
  const second = admit();
  clock.nowMs++;
  assert.throws(() => admit(), { code: "unavailable" });
  queue.resolve(second, null);
  queue.resolve(admit(), null);
  queue.resolve(first, null);
});

Deno.test("JobQueue admits nothing new while answers take too long", () => {
  const { queue, clock, admit } = openTestQueue();
  const waiting = Array.from({ length: 10 }, () => admit());
  for (const pending of waiting.slice(0, 9)) {
    clock.nowMs += QUEUE_BOUNDS.refuseAfterMs / 4;
    queue.resolve(pending, null); // answers come, each later than the one before
  }
  assert.throws(() => admit(), { code: "unavailable" });
  queue.resolve(waiting[9]!, null);
  queue.resolve(admit(), null);
});

Deno.test("JobQueue goes on admitting while a single job hangs", () => {
  const { queue, clock, admit } = openTestQueue();
  const hanging = admit();
  for (let i = 0; i < 100; i++) {
    clock.nowMs += QUEUE_BOUNDS.refuseAfterMs / 10;
    queue.resolve(admit(), null);
  }
  queue.resolve(hanging, null);
});

Deno.test("JobQueue admits a job of any size when nothing else waits", () => {
  const { queue, admit } = openTestQueue();
  const large = admit(QUEUE_BOUNDS.bytes * 2);
  assert.throws(() => admit(), { code: "unavailable" });
  queue.resolve(large, null);
  queue.resolve(admit(), null);
});

Deno.test("JobQueue gives released jobs before later ones, in their order, without those that were answered", () => {
  const { queue, admit } = openTestQueue();
  const [a, b, c, d] = [admit(), admit(), admit(), admit()];
  queue.park("box/a", a);
  queue.park("box/a", b);
  queue.park("box/a", c);
  queue.push(d);
  queue.reject(b, new Error("gone"));
  queue.release(["box/z"]);
  assert.deepEqual(queue.takeWaiting(), [d]);
  queue.push(d);
  queue.release(["box/a"]);
  assert.deepEqual(queue.takeWaiting(), [a, c, d]);
  for (const pending of [a, c, d]) queue.resolve(pending, null);
});

Deno.test("JobQueue.drained() waits for the last answer", async () => {
  const { queue, admit } = openTestQueue();
  const [a, b] = [admit(), admit()];
  let drained = false;
  const done = queue.drained().then(() => drained = true);
  queue.resolve(a, null);
  await Promise.resolve();
  assert.equal(drained, false);
  queue.resolve(b, null);
  await done;
});
