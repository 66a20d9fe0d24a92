import assert from "node:assert/strict";
import { RelayError } from "../errors.ts";
import { Semaphore } from "./semaphore.ts";

const refusal = () => new RelayError("unavailable", "too many wait");

Deno.test("Semaphore gives permits in order, as many at a time as there are", async () => {
  const semaphore = new Semaphore({ permits: 2, maxWaiting: 5, refusal });
  const order: string[] = [];
  const first = await semaphore.take();
  const second = await semaphore.take();
  const third = semaphore.take().then((giveBack) => {
    order.push("third");
    return giveBack;
  });
  const fourth = semaphore.take().then((giveBack) => {
    order.push("fourth");
    return giveBack;
  });
  await Promise.resolve();
  assert.deepEqual(order, []);
  second();
  second(); // once is all it counts
  (await third)();
  (await fourth)();
  assert.deepEqual(order, ["third", "fourth"]);
  first();
  const again = [await semaphore.take(), await semaphore.take()];
  for (const giveBack of again) giveBack();
});

Deno.test("Semaphore refuses when too many wait", async () => {
  const semaphore = new Semaphore({ permits: 1, maxWaiting: 1, refusal });
  const first = await semaphore.take();
  const second = semaphore.take();
  await assert.rejects(semaphore.take(), { code: "unavailable" });
  first();
  (await second)();
});

Deno.test("Semaphore.run() gives its permit back, whatever becomes of the work", async () => {
  const semaphore = new Semaphore({ permits: 1, maxWaiting: 0, refusal });
  assert.equal(await semaphore.run(() => Promise.resolve(7)), 7);
  await assert.rejects(semaphore.run(() => Promise.reject(new Error("no"))), /no/);
  const gate = Promise.withResolvers<void>();
  const running = semaphore.run(() => gate.promise);
  await assert.rejects(semaphore.run(() => Promise.resolve()), { code: "unavailable" });
  gate.resolve();
  await running;
  await semaphore.run(() => Promise.resolve());
});

Deno.test("Semaphore of one permit has work done in turn for each name, whatever became of the work before", async () => {
  const locks = new Semaphore<string>({ permits: 1 });
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = locks.run(async () => {
    await first.promise;
    order.push("one");
    throw new Error("one failed");
  }, "a");
  const two = locks.run(() => Promise.resolve(void order.push("two")), "a");
  await locks.run(() => Promise.resolve(void order.push("other")), "b");
  assert.deepEqual(order, ["other"]);
  assert.deepEqual([locks.countOf("a"), locks.countOf("b"), locks.size], [2, 0, 1]);
  first.resolve();
  await assert.rejects(one, /one failed/);
  await two;
  assert.deepEqual(order, ["other", "one", "two"]);
  assert.deepEqual([locks.countOf("a"), locks.size], [0, 0]);
});

Deno.test("Semaphore.tryTake() takes what is free of each name, and leaves none of a full one", async () => {
  const semaphore = new Semaphore<string>({ permits: 2 });
  const [first, second] = [semaphore.tryTake("a"), semaphore.tryTake("a")];
  assert.equal(semaphore.tryTake("a"), null);
  assert.notEqual(semaphore.tryTake("b"), null);
  const third = semaphore.take("a");
  assert.deepEqual([semaphore.countOf("a"), semaphore.size], [3, 2]);
  first!();
  assert.equal(semaphore.tryTake("a"), null, "who waits comes first");
  (await third)();
  second!();
  second!();
  assert.deepEqual([semaphore.countOf("a"), semaphore.size], [0, 1]);
});
