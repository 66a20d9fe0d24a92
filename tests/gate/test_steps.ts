import { join } from "node:path";
import { parseDenoTest } from "./parse_deno_test.ts";
import { runCommand } from "./run_command.ts";
import type { Step, StepResult } from "./step.ts";

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
 * The steps that run code: examples of documents and docstrings, then all tests.
 * @param only files and folders whose tests run; none: all
 */
export function testSteps(root: string, only: readonly string[]): Step[] {
  return [
    {
      name: "documentation tests",
      run: () =>
        denoTest(root, [
          "--doc",
          "--permit-no-files",
          "--ignore=**/*_test.ts",
          ...EXAMPLE_PERMISSIONS,
          ...only,
        ]),
    },
    { name: "tests", run: () => denoTest(root, ["--parallel", ...TEST_PERMISSIONS, ...only]) },
  ];
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
