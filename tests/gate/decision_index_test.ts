/** The index of decisions is kept by hand, and branches that add to it meet in it. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { listProjectFiles } from "./project_files.ts";

const FOLDER = new URL("../../docs/adr/", import.meta.url);

Deno.test("docs/adr/README.md lists every decision once, in order", async () => {
  const pages = (await Array.fromAsync(Deno.readDir(FOLDER))).map(({ name }) => name)
    .filter((name) => /^\d{4}-/.test(name)).toSorted();
  const index = await Deno.readTextFile(new URL("README.md", FOLDER));
  const rows = [...index.matchAll(/^\| \[(\d{4})\]\(([^)]+)\)/gm)];
  assert.deepEqual(
    rows.map(([, number, page]) => [number, page]),
    pages.map((page) => [page.slice(0, 4), page]),
  );
});

Deno.test("comments of the code name decisions that exist", async () => {
  const pages = (await Array.fromAsync(Deno.readDir(FOLDER))).map(({ name }) => name);
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const code = (await listProjectFiles(root)).filter((path) =>
    /^(?:server|toolkit|bench)\/.*\.m?[jt]s$/.test(path)
  );
  assert.ok(code.length > 100);
  const unknown: string[] = [];
  let named = 0;
  for (const path of code) {
    for (
      const [reference, number] of (await Deno.readTextFile(`${root}${path}`)).matchAll(
        /docs\/adr\/(\d{4})/g,
      )
    ) {
      named++;
      if (!pages.some((page) => page.startsWith(`${number}-`))) {
        unknown.push(`${path}: ${reference}`);
      }
    }
  }
  assert.ok(named > 2);
  assert.deepEqual(unknown, []);
});
