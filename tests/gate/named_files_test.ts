import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { listProjectFiles } from "./project_files.ts";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Names that stand for any. */
const EXAMPLES = new Set(["name_test.ts"]);

const FILES = await listProjectFiles(ROOT);

function endsOf(parts: readonly string[]): string[] {
  return parts.map((_, i) => parts.slice(i).join("/"));
}

/** What documents name in code spans, and what of it is not there. */
async function findMissing(named: RegExp, isThere: (name: string) => boolean): Promise<string[]> {
  const missing: string[] = [];
  for (const document of FILES.filter((path) => /^docs\/.*\.md$|^[A-Z]+\.md$/.test(path))) {
    if (document === "CHANGELOG.md") continue;
    const text = (await Deno.readTextFile(join(ROOT, document))).replaceAll(/^```[^]*?^```/gm, "");
    for (const [, name] of text.matchAll(named)) {
      if (!isThere(name!)) missing.push(`${document}: ${name}`);
    }
  }
  return missing;
}

Deno.test("every source file that a document names is there, by the end of its path", async () => {
  const ends = new Set(FILES.flatMap((path) => endsOf(path.split("/"))));
  assert.deepEqual(
    await findMissing(/`([a-z][\w./-]*\.tsx?)`/g, (name) => ends.has(name) || EXAMPLES.has(name)),
    [],
  );
});

Deno.test("every folder that a document names is there, by the end of its path", async () => {
  const ends = new Set(
    FILES.map((path) => path.split("/").slice(0, -1))
      .flatMap((folders) => folders.flatMap((_, i) => endsOf(folders.slice(0, i + 1)))),
  );
  assert.deepEqual(
    await findMissing(/`([a-z_]+(?:\/[a-z_]+)*)\/`/g, (name) => ends.has(name)),
    [],
  );
});
