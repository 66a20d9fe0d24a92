import assert from "node:assert/strict";
import { join } from "node:path";
import { parseDenoTest } from "./parse_deno_test.ts";
import { runCommand } from "./run_command.ts";

Deno.test("parseDenoTest() reads the counts of tests and leaves steps out", () => {
  const output = "noise\n\nok | 41 passed (7 steps) | 0 failed | 2 ignored (1s)\n\n";
  assert.deepEqual(parseDenoTest(output, "", 0), { passed: 41, failed: 0, skipped: [] });
});

Deno.test("parseDenoTest() reads a coloured summary", () => {
  const output =
    "\x1b[31mFAILED\x1b[0m | 3 passed | 2 failed (1 step) \x1b[38;5;245m(285ms)\x1b[0m\n";
  assert.deepEqual(parseDenoTest(output, "", 1), { passed: 3, failed: 2, skipped: [] });
});

Deno.test("parseDenoTest() believes the last summary, not one that a test printed", () => {
  const output = "ok | 99 passed | 0 failed (1ms)\nFAILED | 1 passed | 1 failed (2ms)\n";
  assert.equal(parseDenoTest(output, "", 1).failed, 1);
});

Deno.test("parseDenoTest() counts a run without a summary as one failure", () => {
  assert.deepEqual(parseDenoTest("error: type check", "", 1), {
    passed: 0,
    failed: 1,
    skipped: [],
  });
  assert.deepEqual(parseDenoTest("", "", 0), { passed: 0, failed: 1, skipped: [] });
});

Deno.test("parseDenoTest() counts a bad exit as a failure even when no test failed", () => {
  const tally = parseDenoTest("ok | 5 passed | 0 failed (1ms)\n", "", 1);
  assert.deepEqual(tally, { passed: 5, failed: 1, skipped: [] });
});

Deno.test("parseDenoTest() names skipped tests as they were written", () => {
  const junitXml = `<testsuite>
    <testcase name="runs" classname="a" time="0"></testcase>
    <testcase name="a &lt;b&gt; &amp;amp; &quot;c&quot; &#x27;d&#39;" classname="a" time="0.000">
      <skipped/>
    </testcase></testsuite>`;
  const { skipped } = parseDenoTest("ok | 1 passed | 0 failed | 1 ignored (1ms)\n", junitXml, 0);
  assert.deepEqual(skipped, [`a <b> &amp; "c" 'd'`]);
});

Deno.test("parseDenoTest() agrees with what this Deno prints", async (t) => {
  const folder = await Deno.makeTempDir();
  try {
    const run = async (files: Record<string, string>, ...options: string[]) => {
      const cwd = await Deno.makeTempDir({ dir: folder });
      for (const [name, text] of Object.entries(files)) {
        await Deno.writeTextFile(join(cwd, name), text);
      }
      const { exitCode, output } = await runCommand(
        [
          Deno.execPath(),
          "test",
          "--no-config",
          "--no-lock",
          "--junit-path=report.xml",
          ...options,
        ],
        { cwd },
      );
      const report = await Deno.readTextFile(join(cwd, "report.xml")).catch(() => "");
      return parseDenoTest(output, report, exitCode);
    };
    const passing = `Deno.test("one", async (t) => { await t.step("step", () => {}); });
      Deno.test({ name: "not <here>", ignore: true, fn() {} });`;
    await t.step("passing, with a step and a skipped test", async () => {
      assert.deepEqual(await run({ "a_test.ts": passing }, "--no-check"), {
        passed: 1,
        failed: 0,
        skipped: ["not <here>"],
      });
    });
    await t.step("a failing test and a module that fails to load", async () => {
      const tally = await run({
        "a_test.ts": passing,
        "b_test.ts": `Deno.test("two", () => { throw new Error("x"); });`,
        "c_test.ts": `throw new Error("at load");`,
      }, "--no-check");
      assert.deepEqual([tally.passed, tally.failed], [1, 2]);
    });
    await t.step("a type error", async () => {
      const tally = await run({ "a_test.ts": `const one: number = "1"; ${passing}` });
      assert.deepEqual(tally, { passed: 0, failed: 1, skipped: [] });
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
