import { dirname, join } from "node:path";
import { bundleForBrowser } from "./bundle_for_browser.ts";
import { npmManifest } from "./npm_manifest.ts";
import { jsonModule, rewriteModule } from "./rewrite_module.ts";
import { runDeno } from "./run_deno.ts";
import { shippedModules } from "./shipped_modules.ts";

/** What programs import. */
const LIBRARY = ["toolkit/mod.ts", "toolkit/client/mod.ts", "toolkit/node/mod.ts"];
const COMMAND = "toolkit/cli/main.ts";
const BROWSER = "toolkit/build/browser.ts";

/**
 * Builds the npm package: one JavaScript module a source module, readable as its source is, with
 * declarations, and the library as one file for browsers.
 *
 * @param root the folder of the repository
 * @param folder where the package is to stand; emptied first
 */
export async function buildNpm(root: string, folder: string): Promise<void> {
  await Deno.remove(folder, { recursive: true }).catch(ignoreMissing);
  await Deno.mkdir(folder, { recursive: true });
  const { modules, documents, libraries } = await shippedModules(root, [...LIBRARY, COMMAND]);
  // The command line is run, never imported, and needs no declarations.
  const imported = (await shippedModules(root, LIBRARY)).modules;
  await transpile(root, folder, modules, imported);
  for (const path of documents) {
    const text = await Deno.readTextFile(join(root, path));
    await write(join(folder, path.replace(/\.json$/, ".js")), jsonModule(text));
  }
  await write(
    join(folder, "package.json"),
    JSON.stringify(npmManifest(libraries), null, 2) + "\n",
  );
  await write(join(folder, "browser.js"), await bundleForBrowser(root, BROWSER));
  await write(
    join(folder, "browser.d.ts"),
    typesOfBundle(await Deno.readTextFile(join(root, BROWSER))),
  );
  await Deno.copyFile(join(root, "toolkit/README.md"), join(folder, "README.md"));
  await Deno.copyFile(join(root, "LICENSE"), join(folder, "LICENSE"));
}

async function transpile(
  root: string,
  folder: string,
  modules: readonly string[],
  imported: readonly string[],
): Promise<void> {
  const draft = await Deno.makeTempDir({ prefix: "relay-build-" });
  try {
    await runDeno(root, ["transpile", `--outdir=${draft}`, ...modules]);
    await runDeno(root, ["transpile", "--declaration", `--outdir=${draft}`, ...imported]);
    const files = [...modules.map(codeOf), ...imported.map(typesOf)];
    for (const file of files) {
      const text = rewriteModule(await Deno.readTextFile(join(draft, file)));
      const isCommand = file === codeOf(COMMAND);
      await write(join(folder, file), isCommand ? `#!/usr/bin/env node\n${text}` : text);
    }
  } finally {
    await Deno.remove(draft, { recursive: true });
  }
}

/** The bundle exports what its entry does, which the other modules declare. */
function typesOfBundle(entry: string): string {
  return rewriteModule(entry.replaceAll('"../', '"./toolkit/'));
}

function codeOf(module: string): string {
  return module.replace(/\.ts$/, ".js");
}

function typesOf(module: string): string {
  return module.replace(/\.ts$/, ".d.ts");
}

async function write(path: string, text: string): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true });
  await Deno.writeTextFile(path, text);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
