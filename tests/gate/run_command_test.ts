import assert from "node:assert/strict";
import { runCommand } from "./run_command.ts";

const deno = (code: string, env?: Record<string, string>) =>
  runCommand([Deno.execPath(), "eval", "--no-config", code], { cwd: Deno.cwd(), env });

Deno.test("runCommand() keeps standard output and error, and the exit code", async () => {
  const { exitCode, output } = await deno(
    `console.log("out"); console.error("err"); Deno.exit(3);`,
  );
  assert.equal(exitCode, 3);
  assert.match(output, /out\n/);
  assert.match(output, /err\n/);
});

Deno.test("runCommand() keeps characters whole and long output complete", async () => {
  const { output } = await deno(`console.log("\\u{1F41D}".repeat(100_000));`);
  assert.equal(output, "\u{1F41D}".repeat(100_000) + "\n");
});

Deno.test("runCommand() adds variables to those of this process", async () => {
  const code = `console.log(Deno.env.get("GATE_TEST"), Deno.env.has("PATH"));`;
  assert.equal((await deno(code, { GATE_TEST: "given", NO_COLOR: "1" })).output, "given true\n");
});

Deno.test("runCommand() rejects when there is no such program", async () => {
  await assert.rejects(
    runCommand(["no-such-program-here"], { cwd: Deno.cwd() }),
    Deno.errors.NotFound,
  );
});
