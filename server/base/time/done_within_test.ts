import assert from "node:assert/strict";
import { doneWithin } from "./done_within.ts";

Deno.test("doneWithin() tells work that is done from work that still runs, and leaves no timer", async () => {
  assert.equal(await doneWithin(Promise.resolve("done"), 60_000), true);
  assert.equal(await doneWithin(new Promise(() => {}), 1), false);
});

Deno.test("doneWithin() passes on a failure in time and leaves no timer", async () => {
  await assert.rejects(doneWithin(Promise.reject(new Error("in time")), 60_000), /in time/);
});

Deno.test("doneWithin() ignores a failure that comes too late", async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  assert.equal(await doneWithin(promise, 1), false);
  // Unhandled, it would fail the test.
  reject(new Error("late"));
  await promise.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve));
});
