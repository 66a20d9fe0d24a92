/**
 * The gate: `deno task ok` runs every check and every test, `deno task test [PATH...]` the tests alone;
 * both with `--long` in full numbers, and those too that fetch what they read.
 * `deno task test --changed [REVISION]` runs the tests that reach what differs from a revision.
 * Ends with one line, `N passed, N failed`, and exits non-zero when anything failed.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { selectTests } from "./select_tests.ts";
import { runSteps } from "./run_steps.ts";
import { staticSteps, typesStep } from "./static_steps.ts";
import { emptyTally, finalLine } from "./tally.ts";
import { testSteps } from "./test_steps.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const [part, ...given] = Deno.args;
const wantsLong = given[0] === "--long";
// Tests look for it.
if (wantsLong) Deno.env.set("RELAY_LONG_TESTS", "1");
const args = wantsLong ? given.slice(1) : given;
const wantsChanged = args[0] === "--changed";
if (
  (part !== "ok" && part !== "test") ||
  (wantsChanged ? part === "ok" || args.length > 2 : args.some((arg) => arg.startsWith("-")))
) {
  console.error(
    "usage: main.ts ok [--long] | main.ts test [--long] [PATH...] | main.ts test --changed [REVISION]",
  );
  Deno.exit(2);
}

const only = wantsChanged ? await selectTests(root, args[1] ?? "HEAD") : args;
if (wantsChanged && only.length === 0) {
  console.log("no test reaches a changed file");
  console.log(finalLine(emptyTally));
  Deno.exit(0);
}
if (wantsChanged) console.log(`${only.length} test files reach a changed file`);
const { documentation, tests } = testSteps(root, { only, areTypesChecked: part === "ok" });
const steps = part === "ok"
  ? [...staticSteps(root), documentation, typesStep(root), tests]
  : [documentation, tests];
const encoder = new TextEncoder();
const total = await runSteps(
  steps,
  (text) => Deno.stdout.writeSync(encoder.encode(text)),
  () => performance.now(),
);
console.log(finalLine(total));
Deno.exit(total.failed === 0 ? 0 : 1);
