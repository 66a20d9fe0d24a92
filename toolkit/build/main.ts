/**
 * `deno task build:npm`: the npm package in dist/npm. `deno task build:page`: the offline verifier
 * as one file, docs/verify.html. Each prints sizes and fails when a bound is passed.
 */
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { buildNpm } from "./build_npm.ts";
import { buildPage, PAGE } from "./build_page.ts";
import { type Artefact, gzippedBytes, reportSizes } from "./size_bounds.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

switch (Deno.args[0]) {
  case "npm": {
    const folder = join(root, "dist/npm");
    await buildNpm(root, folder);
    const browser = await Deno.readTextFile(join(folder, "browser.js"));
    finish(folder, {
      "package unpacked": await folderBytes(folder),
      "browser.js": new TextEncoder().encode(browser).length,
      "browser.js gzipped": await gzippedBytes(browser),
    });
    break;
  }
  case "page": {
    const html = await buildPage(root);
    await Deno.writeTextFile(join(root, PAGE), html);
    finish(join(root, PAGE), {
      "verify.html": new TextEncoder().encode(html).length,
      "verify.html gzipped": await gzippedBytes(html),
    });
    break;
  }
  default:
    console.error("usage: main.ts npm | main.ts page");
    Deno.exit(2);
}

function finish(path: string, sizes: Partial<Record<Artefact, number>>): void {
  const { lines, isWithinBounds } = reportSizes(sizes);
  console.log(`written to ${relative(root, path)}\n${lines.join("\n")}`);
  if (!isWithinBounds) Deno.exit(1);
}

async function folderBytes(folder: string): Promise<number> {
  let bytes = 0;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    bytes += isDirectory ? await folderBytes(path) : (await Deno.stat(path)).size;
  }
  return bytes;
}
