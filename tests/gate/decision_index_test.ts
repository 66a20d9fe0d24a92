/** The index of decisions is kept by hand, and branches that add to it meet in it. */
import assert from "node:assert/strict";

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
