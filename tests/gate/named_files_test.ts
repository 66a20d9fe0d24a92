import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { listProjectFiles } from "./project_files.ts";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Names that stand for any. */
const EXAMPLES = new Set(["name_test.ts"]);

Deno.test("every source file that a document names is there, by the end of its path", async () => {
  const files = await listProjectFiles(ROOT);
  const ends = new Set(files.flatMap((path) => {
    const parts = path.split("/");
    return parts.map((_, i) => parts.slice(i).join("/"));
  }));
  const missing: string[] = [];
  for (const document of files.filter((path) => /^docs\/.*\.md$|^[A-Z]+\.md$/.test(path))) {
    if (document === "CHANGELOG.md") continue;
    const text = (await Deno.readTextFile(join(ROOT, document))).replaceAll(/^```[^]*?^```/gm, "");
    for (const [, named] of text.matchAll(/`([a-z][\w./-]*\.tsx?)`/g)) {
      if (!ends.has(named!) && !EXAMPLES.has(named!)) missing.push(`${document}: ${named}`);
    }
  }
  assert.deepEqual(missing, []);
});
