import { join } from "node:path";
import { parseDenoTest } from "./parse_deno_test.ts";
import { runCommand } from "./run_command.ts";
import type { Step, StepResult } from "./step.ts";
import { addTallies } from "./tally.ts";

/** Examples in documents and docstrings are pure: they get no permission at all. */
const EXAMPLE_PERMISSIONS: readonly string[] = [];

/**
 * Tests make stores in temporary folders, listen on free ports and start relays, Node.js, Python and
 * a browser. Of the network they get this machine alone, so that no test depends on another one.
 */
const TEST_PERMISSIONS: readonly string[] = [
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-sys",
  "--allow-run",
  "--allow-net=127.0.0.1,[::1],localhost,0.0.0.0",
];

/**
 * Files that take longest, half a minute each and more in CI. They run one after the other from the
 * start on, beside the others: begun last, one of them would leave the other processors idle.
 */
export const LONG_FILES: readonly string[] = [
  "tests/faults/kill_test.ts",
  "tests/network/recount_test.ts",
  "tests/shared/processes_test.ts",
  "tests/toolkit/npm_package_test.ts",
];

/** Which tests run, and what is known of them. */
export interface TestSelection {
  /** Files and folders whose tests run; none: all. */
  only: readonly string[];
  /** Another step checks the types of all files. */
  areTypesChecked: boolean;
}

/** The steps that run code: examples of documents and docstrings, and all tests. */
export function testSteps(
  root: string,
  { only, areTypesChecked }: TestSelection,
): { documentation: Step; tests: Step } {
  const examples = ["--doc", "--permit-no-files", "--ignore=**/*_test.ts", ...EXAMPLE_PERMISSIONS];
  const options = [...(areTypesChecked ? ["--no-check"] : []), ...TEST_PERMISSIONS];
  // Two runs would each check the types of what both import.
  const parts = areTypesChecked && only.length === 0
    ? [LONG_FILES, ["--parallel", `--ignore=${LONG_FILES.join()}`]]
    : [["--parallel", ...only]];
  return {
    documentation: {
      name: "documentation tests",
      run: () => denoTest(root, [...examples, ...only]),
    },
    tests: {
      name: "tests",
      run: async () =>
        (await Promise.all(parts.map((part) => denoTest(root, [...options, ...part]))))
          .reduce((sum, result) => ({
            ...addTallies(sum, result),
            output: `${sum.output}${result.output}`,
          })),
    },
  };
}

async function denoTest(root: string, args: readonly string[]): Promise<StepResult> {
  const folder = await Deno.makeTempDir({ prefix: "gate_" });
  try {
    const report = join(folder, "junit.xml");
    const { exitCode, output } = await runCommand(
      [Deno.execPath(), "test", "--frozen", "--no-prompt", `--junit-path=${report}`, ...args],
      { cwd: root, env: { DENO_NO_UPDATE_CHECK: "1" } },
    );
    const junitXml = await Deno.readTextFile(report).catch(() => "");
    return { ...parseDenoTest(output, junitXml, exitCode), output };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
