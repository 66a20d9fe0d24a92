import assert from "node:assert/strict";
import { madeOnce } from "./made_once.ts";

Deno.test("madeOnce() makes one value for all who ask, and tries again after a failure", async () => {
  let runs = 0;
  const get = madeOnce(async () => {
    const run = ++runs;
    await Promise.resolve();
    if (run === 1) throw new Error("not yet");
    return { run };
  });
  assert.equal(runs, 0);
  const refused = await Promise.allSettled([get(), get()]);
  assert.deepEqual(refused.map(({ status }) => status), ["rejected", "rejected"]);
  assert.equal(runs, 1);
  const [first, second] = await Promise.all([get(), get()]);
  assert.equal(first.run, 2);
  assert.equal(first, second);
  assert.equal(await get(), first);
});
