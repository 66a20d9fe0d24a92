import assert from "node:assert/strict";
import { requireAnswer, StoreSilent } from "./require_answer.ts";

Deno.test("requireAnswer() passes on what the store says in time, a failure too", async () => {
  assert.equal(await requireAnswer(Promise.resolve(7)), 7);
  await assert.rejects(requireAnswer(Promise.reject(new Error("newer layout"))), /newer layout/);
});

Deno.test("requireAnswer() ends the wait for a store that says nothing, and names the likely causes", async () => {
  const silent = new Promise<never>(() => {});
  await assert.rejects(requireAnswer(silent, 5), (error) => {
    assert.ok(error instanceof StoreSilent);
    assert.match(error.message, /did not answer .* write lock .* KV server/);
    return true;
  });
});
