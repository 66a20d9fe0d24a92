import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseDenoTest } from "./parse_deno_test.ts";
import { listProjectFiles } from "./project_files.ts";
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
  "--allow-net=127.0.0.0/8,[::1],localhost,0.0.0.0,[::]:0",
];

/**
 * Files that take longest for what they wait for. Each runs in an isolate of its own, from the start on,
 * beside the others: begun last, one of them would leave the other processors idle.
 */
export const LONG_FILES: readonly string[] = [
  "tests/mail/sign_in/link_processes_test.ts",
  "tests/faults/moved_clock_test.ts",
  "tests/shared/processes_test.ts",
  "tests/messaging/network/recount_test.ts",
  "tests/faults/kill_test.ts",
  "tests/toolkit/npm_package_test.ts",
];

/**
 * Files of one group. Deno gives each test module an isolate that loads and compiles the whole server
 * again, which takes longer than most files' tests; more than so many leave a processor idle at the end.
 */
const GROUP_SIZE = 30;

/** Concurrent test modules: one more than processors, because some wait for clocks and processes. */
const JOBS = navigator.hardwareConcurrency + 1;

const TEST_FILE = /_test\.tsx?$/;

/** Which tests run, and what is known about them. */
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
  return {
    documentation: {
      name: "documentation tests",
      run: () => denoTest(root, [...examples, ...only]),
    },
    tests: {
      name: "tests",
      // Beside what takes one processor alone.
      isEarly: areTypesChecked,
      run: async () => {
        const groups = await Deno.makeTempDir({ prefix: "gate_groups_" });
        try {
          const files = only.length === 0 ? await listProjectFiles(root) : only;
          const folders = only.filter((path) => !TEST_FILE.test(path));
          const modules = [...await writeGroups(root, groups, files), ...folders];
          return await denoTest(root, [...options, "--parallel", ...modules]);
        } finally {
          await Deno.remove(groups, { recursive: true });
        }
      },
    },
  };
}

/** Test files in starting order: long ones, then modules that import the others, by path. */
export function groupTests(files: readonly string[], groupSize = GROUP_SIZE): string[][] {
  const tests = files.filter((path) => TEST_FILE.test(path));
  const long = LONG_FILES.filter((path) => tests.includes(path));
  // Journeys over a relay take longer than the unit tests of server/, which come first by path.
  const others = tests.filter((path) => !long.includes(path)).sort().reverse();
  const groups = Array.from(
    { length: Math.ceil(others.length / groupSize) },
    (_, i) => others.slice(i * groupSize, (i + 1) * groupSize),
  );
  return [...long.map((path) => [path]), ...groups];
}

async function writeGroups(
  root: string,
  folder: string,
  paths: readonly string[],
): Promise<string[]> {
  return await Promise.all(
    groupTests(paths).map(async (files, i) => {
      const module = join(folder, `group_${i}_test.ts`);
      const urls = files.map((path) => pathToFileURL(resolve(root, path)).href);
      await Deno.writeTextFile(
        module,
        urls.map((url) => `import ${JSON.stringify(url)};\n`).join(""),
      );
      return module;
    }),
  );
}

async function denoTest(root: string, args: readonly string[]): Promise<StepResult> {
  const folder = await Deno.makeTempDir({ prefix: "gate_" });
  try {
    const report = join(folder, "junit.xml");
    const { exitCode, output } = await runCommand(
      [Deno.execPath(), "test", "--frozen", "--no-prompt", `--junit-path=${report}`, ...args],
      { cwd: root, env: { DENO_NO_UPDATE_CHECK: "1", DENO_JOBS: String(JOBS) } },
    );
    const junitXml = await Deno.readTextFile(report).catch(() => "");
    return { ...parseDenoTest(output, junitXml, exitCode), output };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
