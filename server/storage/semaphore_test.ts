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
