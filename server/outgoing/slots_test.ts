import assert from "node:assert/strict";
import { Slots } from "./slots.ts";

const never = new AbortController().signal;

Deno.test("Slots gives a free slot to the caller that waits longest", async () => {
  const slots = new Slots(1);
  const order: string[] = [];
  assert.equal(await slots.take(never), true);
  const waiting = ["a", "b"].map((name) => slots.take(never).then(() => order.push(name)));
  slots.giveBack();
  await waiting[0];
  assert.deepEqual(order, ["a"]);
  slots.giveBack();
  await waiting[1];
  assert.deepEqual(order, ["a", "b"]);
  slots.giveBack();
  assert.equal(await slots.take(never), true);
});

Deno.test("Slots gives no slot to a caller that gave up waiting, and loses none", async () => {
  const slots = new Slots(1);
  await slots.take(never);
  const abort = new AbortController();
  const waiting = slots.take(abort.signal);
  abort.abort();
  assert.equal(await waiting, false);
  assert.equal(await slots.take(abort.signal), false);
  slots.giveBack();
  assert.equal(await slots.take(never), true);
});
