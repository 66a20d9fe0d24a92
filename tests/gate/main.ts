/**
 * The gate: `deno task ok` runs every check and every test, `deno task test [PATH...]` the tests
 * alone. Ends with one line, `N passed, N failed`, and exits non-zero when anything failed.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { runSteps } from "./run_steps.ts";
import { staticSteps } from "./static_steps.ts";
import { finalLine } from "./tally.ts";
import { testSteps } from "./test_steps.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const [part, ...only] = Deno.args;
if (part !== "ok" && part !== "test") {
  console.error("usage: main.ts ok | main.ts test [PATH...]");
  Deno.exit(2);
}

const steps = [...(part === "ok" ? staticSteps(root) : []), ...testSteps(root, only)];
const encoder = new TextEncoder();
const total = await runSteps(
  steps,
  (text) => Deno.stdout.writeSync(encoder.encode(text)),
  () => performance.now(),
);
console.log(finalLine(total));
Deno.exit(total.failed === 0 ? 0 : 1);
