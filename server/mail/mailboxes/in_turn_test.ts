import assert from "node:assert/strict";
import { InTurn } from "./in_turn.ts";

Deno.test("InTurn.run() works in turn for each name, whatever became of the work before", async () => {
  const turns = new InTurn();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = turns.run("a", async () => {
    await first.promise;
    order.push("one");
    throw new Error("one failed");
  });
  const two = turns.run("a", () => Promise.resolve(void order.push("two")));
  await turns.run("b", () => Promise.resolve(void order.push("other")));
  assert.deepEqual(order, ["other"]);
  assert.deepEqual([turns.waitingAt("a"), turns.waitingAt("b"), turns.size], [2, 0, 1]);
  first.resolve();
  await assert.rejects(one, /one failed/);
  await two;
  assert.deepEqual(order, ["other", "one", "two"]);
  assert.deepEqual([turns.waitingAt("a"), turns.size], [0, 0]);
});
