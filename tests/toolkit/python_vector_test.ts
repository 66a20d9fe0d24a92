import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pythonOrSkip, type PythonRun } from "../support/python_program.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CHECK = join(ROOT, "tests/vectors/check");

await pythonOrSkip(
  join(CHECK, "requirements.txt"),
  ["base58", "nacl", "rfc8785"],
  "a second verifier, in Python, agrees with every vector and would say if it did not",
  async (run) => {
    const { code, stdout, stderr } = await run([CHECK]);
    assert.equal(stderr, "");
    assert.match(stdout, /^\d{4,} passed, 0 failed\n$/);
    assert.equal(code, 0);
    await noticesAWrongVector(run);
  },
);

async function noticesAWrongVector(run: PythonRun): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "relay-vectors-" });
  try {
    const vectors = join(folder, "tests/vectors");
    await copyFolder(CHECK, join(vectors, "check"));
    await copyFolder(join(ROOT, "tests/vectors"), vectors);
    await copyFolder(join(ROOT, "wordlists"), join(folder, "wordlists"));
    const file = join(vectors, "messages.json");
    const text = await Deno.readTextFile(file);
    await Deno.writeTextFile(file, text.replace('"signature": "invalid"', '"signature": "valid"'));
    const { code, stdout } = await run([join(vectors, "check")]);
    assert.match(stdout, / passed, 1 failed\n$/);
    assert.equal(code, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Copies the files of a folder, not what is below it. */
async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isFile } of Deno.readDir(from)) {
    if (isFile) await Deno.copyFile(join(from, name), join(to, name));
  }
}
