import assert from "node:assert/strict";
import { runSteps } from "./run_steps.ts";
import type { Step } from "./step.ts";

function recorder() {
  const printed: string[] = [];
  let nowMs = 0;
  return {
    run: (steps: Step[]) => runSteps(steps, (text) => printed.push(text), () => nowMs += 600),
    text: () => printed.join(""),
  };
}

function step(name: string, result: Partial<Awaited<ReturnType<Step["run"]>>>): Step {
  return {
    name,
    run: () => Promise.resolve({ passed: 0, failed: 0, skipped: [], output: "", ...result }),
  };
}

Deno.test("runSteps() shows name, verdict, counts and time of each step", async () => {
  const { run, text } = recorder();
  await run([step("lint", { passed: 1 }), step("tests", { passed: 4, failed: 2 })]);
  assert.equal(
    text(),
    "lint ... ok (1 passed, 0.6 s)\ntests ... failed (4 passed, 2 failed, 0.6 s)\n\n",
  );
});

Deno.test("runSteps() prints all output of a failed step and none of a good one", async () => {
  const { run, text } = recorder();
  await run([
    step("good", { passed: 1, output: "quiet\n" }),
    step("bad", { failed: 1, output: "line 1\nline 2\n" }),
  ]);
  assert.ok(text().endsWith("s)\nline 1\nline 2\n"));
  assert.ok(!text().includes("quiet"));
});

Deno.test("runSteps() goes on after a failure and sums all steps", async () => {
  const { run } = recorder();
  const total = await run([
    step("a", { passed: 2, failed: 1 }),
    step("b", { passed: 3, skipped: ["needs node"] }),
  ]);
  assert.deepEqual(total, { passed: 5, failed: 1, skipped: ["needs node"] });
});

Deno.test("runSteps() names skipped tests", async () => {
  const { run, text } = recorder();
  await run([step("tests", { passed: 1, skipped: ["runs in Node.js (needs node)"] })]);
  assert.match(
    text(),
    /ok \(1 passed, 1 skipped, .*\)\n {2}skipped: runs in Node\.js \(needs node\)\n/,
  );
});

Deno.test("runSteps() counts a step that throws as one failure and shows why", async () => {
  const { run, text } = recorder();
  const total = await run([
    { name: "broken", run: () => Promise.reject(new Error("no such file")) },
    step("next", { passed: 1 }),
  ]);
  assert.deepEqual(total, { passed: 1, failed: 1, skipped: [] });
  assert.match(text(), /no such file/);
});

Deno.test("runSteps() prints warnings of a step that fails nothing", async () => {
  const { run, text } = recorder();
  const total = await run([step("length", { passed: 1, warnings: ["a.ts: long"] })]);
  assert.match(text(), /length \.\.\. ok \(1 passed, .*\)\n {2}warning: a\.ts: long\n/);
  assert.equal(total.failed, 0);
});

Deno.test("runSteps() begins early steps with the first one, and shows them in their turn", async () => {
  const { run, text } = recorder();
  const begun: string[] = [];
  const noted = (name: string, isEarly = false): Step => ({
    name,
    isEarly,
    run: () => {
      begun.push(name);
      return Promise.resolve({ passed: 1, failed: 0, skipped: [], output: "" });
    },
  });
  const total = await run([noted("a"), noted("b", true), noted("c")]);
  assert.deepEqual(begun, ["b", "a", "c"]);
  assert.match(text(), /^a \.\.\. ok.*\nb \.\.\. ok.*\nc \.\.\. ok.*\n$/);
  assert.equal(total.passed, 3);
});
