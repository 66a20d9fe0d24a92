import assert from "node:assert/strict";
import type { Runs } from "./result.ts";
import { type Part, runParts } from "./run_parts.ts";
import { sampleRuns } from "./sample_runs.ts";

/** Parts that take a minute each, and a clock that they move. */
function rig() {
  /** Seconds that others took: half a core during each part "b". */
  let busy = 0;
  let ms = Date.UTC(2026, 10, 22, 12);
  const measured: string[] = [];
  const told: string[] = [];
  const saved: Runs[] = [];
  let afterRuns = 0;
  let failsAt: string | null = null;
  const part = (id: string): Part => ({
    id,
    title: `what ${id} is`,
    measure() {
      if (id === failsAt) return Promise.reject(new Error("killed"));
      ms += 60_000;
      busy += id === "b" ? 30 : 0;
      measured.push(id);
      return Promise.resolve();
    },
  });
  return {
    measured,
    told,
    saved,
    afterRuns: () => afterRuns,
    failAt: (id: string | null) => failsAt = id,
    run: (runs: Runs, times: number, known: [string, number][] = []) =>
      runParts(runs, {
        parts: ["a", "b"].map(part),
        times,
        knownSeconds: new Map(known),
        save: (runs) => Promise.resolve(void saved.push(structuredClone(runs))),
        afterRun: () => Promise.resolve(void afterRuns++),
        tell: (text) => told.push(text),
        readLoad: () => ({ atSeconds: ms / 1_000, busy, ours: 0 }),
        nowMs: () => ms,
      }),
  };
}

Deno.test("runParts() measures every part in each of the runs and saves after each part", async () => {
  const { run, measured, saved, afterRuns } = rig();
  const runs = sampleRuns();
  await run(runs, 2);
  assert.deepEqual(measured, ["a", "b", "a", "b"]);
  assert.deepEqual(runs.runs.map(({ seconds }) => seconds), [{ a: 60, b: 60 }, { a: 60, b: 60 }]);
  assert.deepEqual(
    saved.map(({ runs }) => runs.map(({ seconds }) => Object.keys(seconds).length)),
    [[1], [2], [2, 1], [2, 2]],
  );
  assert.deepEqual(runs.runs.map((run) => run.othersCores), [{ a: 0, b: 0.5 }, { a: 0, b: 0.5 }]);
  assert.equal(afterRuns(), 2);
});

Deno.test("runParts() completes a run that was cut off, and measures nothing of it again", async () => {
  const { run, measured, saved, failAt } = rig();
  failAt("b");
  await assert.rejects(run(sampleRuns(), 2), /killed/);
  failAt(null);
  const runs = saved.at(-1)!;
  await run(runs, 2);
  assert.deepEqual(measured, ["a", "b", "a", "b"]);
  assert.equal(runs.runs.length, 2);
  await run(runs, 2);
  assert.equal(measured.length, 4, "there is nothing left to do");
  await run(runs, 3);
  assert.equal(runs.runs.length, 3);
});

Deno.test("runParts() tells which part of which run it is at, and when it will end", async () => {
  const { run, told } = rig();
  await run(sampleRuns(), 2, [["a", 60], ["b", 120]]);
  assert.match(told[0]!, /^\n\[run 1\/2, 1\/2, 0\.0 min, end about \d\d:\d\d\] a: what a is$/);
  assert.equal(told[2], "    not quiet, so no claim: other programs kept 0.50 cores busy");
  assert.match(told[4]!, /^\n\[run 2\/2, 2\/2, 3\.0 min, end about \d\d:\d\d\] b: what b is$/);
  const once = rig();
  await once.run(sampleRuns(), 1);
  assert.match(once.told[0]!, /^\n\[1\/2, 0\.0 min\] a: /);
});
