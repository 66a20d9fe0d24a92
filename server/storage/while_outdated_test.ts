import assert from "node:assert/strict";
import { Outdated } from "./job.ts";
import { whileOutdated } from "./while_outdated.ts";

Deno.test("whileOutdated() tries again after Outdated alone", async () => {
  let attempts = 0;
  const value = await whileOutdated(() => {
    if (++attempts < 3) return Promise.reject(new Outdated());
    return Promise.resolve("read");
  });
  assert.deepEqual([value, attempts], ["read", 3]);
  const failure = new Error("of another kind");
  await assert.rejects(whileOutdated(() => Promise.reject(failure)), failure);
});
