import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { importsOf, readImports } from "./module_graph.ts";

async function withProject(
  files: Record<string, string>,
  use: (root: string) => Promise<void>,
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    const all = { "deno.json": `{"imports":{"alias":"./lib/target.ts"}}`, ...files };
    for (const [path, text] of Object.entries(all)) {
      await Deno.mkdir(dirname(join(root, path)), { recursive: true });
      await Deno.writeTextFile(join(root, path), text);
    }
    await use(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("readImports() sees static, dynamic, type-only and re-exporting imports, and aliases", async () => {
  const files = {
    "lib/target.ts": "export type T = 1; export const t: T = 1;\n",
    "a.ts": `import { t } from "alias";\nexport default t;\n`,
    "b.ts": `import type { T } from "./lib/target.ts";\nexport const x: T = 1;\n`,
    "c.ts": `export * from "./lib/target.ts";\n`,
    "d.ts_test.ts": `await import("./a.ts");\nimport "node:fs";\n`,
  };
  await withProject(files, async (root) => {
    const imports = await readImports(root, Object.keys(files));
    const edges = imports.map(({ from, to }) => `${from} -> ${to}`).sort();
    assert.deepEqual(edges, [
      "a.ts -> lib/target.ts",
      "b.ts -> lib/target.ts",
      "c.ts -> lib/target.ts",
      "d.ts_test.ts -> a.ts",
      "d.ts_test.ts -> node:fs",
    ]);
    assert.equal(imports.find(({ from }) => from === "a.ts")!.specifier, "alias");
  });
});

Deno.test("readImports() reads no import from comments and strings", async () => {
  const text = `// import "./nowhere.ts";\nexport const text = 'import "./nowhere.ts";';\n`;
  await withProject({ "a.ts": text }, async (root) => {
    assert.deepEqual(await readImports(root, ["a.ts"]), []);
  });
});

Deno.test("readImports() refuses a module that imports what is not there", async () => {
  await withProject({ "a.ts": `import "./nowhere.ts";\n` }, async (root) => {
    await assert.rejects(readImports(root, ["a.ts", "nowhere.ts"]), /nowhere\.ts/);
  });
});

Deno.test("importsOf() names the module that Deno could not resolve", () => {
  const info = {
    modules: [{
      specifier: "file:///project/a.ts",
      dependencies: [{ specifier: "absent", code: { error: "not a dependency" } }],
    }],
  };
  assert.throws(() => importsOf(info, "/project", new Set(["a.ts"])), /^Error: a\.ts: not a dep/);
});
