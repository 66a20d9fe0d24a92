import assert from "node:assert/strict";
import { RelayError } from "../errors.ts";
import { Turns } from "./turns.ts";

const refusal = () => new RelayError("unavailable", "too many wait");

Deno.test("Turns gives turns in order, as many at a time as there are", async () => {
  const turns = new Turns({ turns: 2, maxWaiting: 5, refusal });
  const order: string[] = [];
  const first = await turns.take();
  const second = await turns.take();
  const third = turns.take().then((giveBack) => {
    order.push("third");
    return giveBack;
  });
  const fourth = turns.take().then((giveBack) => {
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
  const again = [await turns.take(), await turns.take()];
  for (const giveBack of again) giveBack();
});

Deno.test("Turns refuses when too many wait", async () => {
  const turns = new Turns({ turns: 1, maxWaiting: 1, refusal });
  const first = await turns.take();
  const second = turns.take();
  await assert.rejects(turns.take(), { code: "unavailable" });
  first();
  (await second)();
});

Deno.test("Turns.run() gives its turn back, whatever becomes of the work", async () => {
  const turns = new Turns({ turns: 1, maxWaiting: 0, refusal });
  assert.equal(await turns.run(() => Promise.resolve(7)), 7);
  await assert.rejects(turns.run(() => Promise.reject(new Error("no"))), /no/);
  const gate = Promise.withResolvers<void>();
  const running = turns.run(() => gate.promise);
  await assert.rejects(turns.run(() => Promise.resolve()), { code: "unavailable" });
  gate.resolve();
  await running;
  await turns.run(() => Promise.resolve());
});
