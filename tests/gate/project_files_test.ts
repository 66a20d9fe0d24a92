import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { listProjectFiles, listWithoutGit } from "./project_files.ts";
import { partOrSkip } from "../support/part.ts";
import { runCommand } from "./run_command.ts";

async function withFiles(paths: string[], use: (root: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir();
  try {
    for (const path of paths) {
      await Deno.mkdir(dirname(join(root, path)), { recursive: true });
      await Deno.writeTextFile(join(root, path), path === ".gitignore" ? "data/\n*.log\n" : "x\n");
    }
    await use(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

partOrSkip("git", "listProjectFiles() lists what git tracks or would add", async (program) => {
  const paths = [".gitignore", "a.ts", "sub/new.ts", "gone.ts", "data/store.kv", "x.log"];
  await withFiles(paths, async (root) => {
    const git = async (...args: string[]) => {
      const { exitCode, output } = await runCommand([program, ...args], { cwd: root });
      assert.equal(exitCode, 0, output);
    };
    await git("init", "--quiet");
    await git("add", "a.ts", "gone.ts", ".gitignore");
    await Deno.remove(join(root, "gone.ts"));
    assert.deepEqual(await listProjectFiles(root), [".gitignore", "a.ts", "sub/new.ts"]);
  });
});

Deno.test("listProjectFiles() works in a checkout without git", async () => {
  const paths = [
    "a.ts",
    ".ci/run",
    "data/store.kv",
    "data-mail/store.kv",
    "node_modules/x/a.js",
    ".env",
    "x.log",
  ];
  await withFiles(paths, async (root) => {
    assert.deepEqual(await listProjectFiles(root), [".ci/run", "a.ts"]);
  });
});

Deno.test("listWithoutGit() keeps of the benchmark results only the latest", async () => {
  const paths = ["bench/results/latest.json", "bench/results/older.json", "bench/main.ts"];
  await withFiles(paths, async (root) => {
    const files = (await listWithoutGit(root)).sort();
    assert.deepEqual(files, ["bench/main.ts", "bench/results/latest.json"]);
  });
});
