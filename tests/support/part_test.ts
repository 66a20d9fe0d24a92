import assert from "node:assert/strict";
import { join } from "node:path";
import { majorVersionIn } from "./part.ts";

Deno.test("majorVersionIn() reads what programs print for --version", () => {
  assert.equal(majorVersionIn("v20.20.2\n"), 20);
  assert.equal(majorVersionIn("Python 3.11.2\n"), 3);
  assert.equal(majorVersionIn("Chromium 131.0.6778.85 built on Debian 12\n"), 131);
  assert.equal(majorVersionIn("no number here"), 0);
});

const example = `
import { partOrSkip } from ${JSON.stringify(new URL("./part.ts", import.meta.url).href)};
for (const part of ["node", "node22", "python3"]) partOrSkip(part, "example", () => {});
`;

/** Runs three registered tests with a PATH that holds only a program that says it is Node 20. */
async function runWithNode20(ci: "true" | "false"): Promise<{ code: number; output: string }> {
  const folder = await Deno.makeTempDir();
  try {
    const node = join(folder, "node");
    await Deno.writeTextFile(node, "#!/bin/sh\necho v20.11.1\n", { mode: 0o755 });
    const test = join(folder, "example_test.ts");
    await Deno.writeTextFile(test, example);
    const permissions = ["--allow-run", "--allow-env"];
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["test", "--no-config", "--no-lock", "--no-check", ...permissions, test],
      env: { PATH: folder, CI: ci, NO_COLOR: "1" },
    }).output();
    const decoder = new TextDecoder();
    return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("partOrSkip() skips by name where the part is missing or too old", async () => {
  const { code, output } = await runWithNode20("false");
  assert.equal(code, 0, output);
  assert.match(output, /example \(needs node\) \.\.\. ok/);
  assert.match(output, /example \(needs node22\) \.\.\. ignored/);
  assert.match(output, /example \(needs python3\) \.\.\. ignored/);
});

Deno.test("partOrSkip() fails in CI where the part is missing, and says what to install", async () => {
  const { code, output } = await runWithNode20("true");
  assert.equal(code, 1, output);
  assert.match(output, /1 passed \| 2 failed/);
  assert.match(output, /python3 is missing: in CI every test runs; install Python 3/);
});
