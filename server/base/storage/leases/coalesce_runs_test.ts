import assert from "node:assert/strict";
import { coalesceRuns } from "./coalesce_runs.ts";

Deno.test("coalesceRuns() gives callers of one moment one run, and those during it the next", async () => {
  let runs = 0;
  const gates: (() => void)[] = [];
  const run = coalesceRuns(async () => {
    const number = ++runs;
    await new Promise<void>((resolve) => gates.push(resolve));
    return number;
  });
  const first = [run(), run()];
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(runs, 1);
  const second = [run(), run(), run()];
  gates[0]!();
  assert.deepEqual(await Promise.all(first), [1, 1]);
  while (gates.length < 2) await Promise.resolve();
  gates[1]!();
  assert.deepEqual(await Promise.all(second), [2, 2, 2]);
  assert.equal(runs, 2);
});

Deno.test("coalesceRuns() runs again after a failure, which only its own callers hear", async () => {
  let fails = true;
  const run = coalesceRuns(() => fails ? Promise.reject(new Error("no")) : Promise.resolve("yes"));
  const failing = run();
  await assert.rejects(failing, /no/);
  fails = false;
  assert.equal(await run(), "yes");
});
