import assert from "node:assert/strict";
import { withTemporaryProject } from "../support/temporary_project.ts";
import { importsOf, readImports } from "./module_graph.ts";

async function withProject(
  files: Record<string, string>,
  use: (root: string) => Promise<void>,
): Promise<void> {
  const config = `{"imports":{"alias":"./lib/target.ts"}}`;
  await withTemporaryProject({ "deno.json": config, ...files }, use);
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

Deno.test("readImports() sees what a module names by its own URL, where that is one of the files", async () => {
  const files = {
    "lib/worker.ts": "export {};\n",
    "lib/start.ts": `const name = "./worker.ts";
export const program = new URL("./worker.ts", import.meta.url);
export const page = new URL("../page.html", import.meta.url);
export const unknown = new URL(name, import.meta.url);
// new URL("./other.ts", import.meta.url)
/* new URL("./other.ts", import.meta.url)
 * new URL("./other.ts", import.meta.url) */
`,
    "lib/resolve.ts": `export const program = import.meta.resolve("./worker.ts");\n`,
    "lib/other.ts": `new Worker(new URL(
  "worker.ts",
  import.meta.url,
));\n`,
  };
  await withProject(files, async (root) => {
    assert.deepEqual(await readImports(root, Object.keys(files)), [
      { from: "lib/start.ts", to: "lib/worker.ts", specifier: "./worker.ts" },
      { from: "lib/resolve.ts", to: "lib/worker.ts", specifier: "./worker.ts" },
      { from: "lib/other.ts", to: "lib/worker.ts", specifier: "worker.ts" },
    ]);
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
