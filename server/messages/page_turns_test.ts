import assert from "node:assert/strict";
import { PageTurns } from "./page_turns.ts";

Deno.test("PageTurns gives turns in order, as many at a time as there are", async () => {
  const turns = new PageTurns(2);
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

Deno.test("PageTurns answers 503 when too many wait", async () => {
  const turns = new PageTurns(1, 1);
  const first = await turns.take();
  const second = turns.take();
  await assert.rejects(turns.take(), { code: "unavailable" });
  first();
  (await second)();
});
