import { join, posix, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runCommand } from "./run_command.ts";

/** One import of one module. */
export interface Import {
  /** Path of the importing file from the project's root. */
  from: string;
  /** Path from the root, or a specifier such as `node:fs` or `npm:hono@4.13.19`. */
  to: string;
  /** What the source says. */
  specifier: string;
}

interface InfoDependency {
  specifier: string;
  code?: { specifier?: string; error?: string };
  type?: { specifier?: string; error?: string };
}

interface Info {
  modules: { specifier: string; error?: string; dependencies?: InfoDependency[] }[];
}

/**
 * Every import of the given files, static, dynamic and type-only, resolved as Deno resolves it, and
 * the files that one names by its own URL: the programs of workers.
 * @param root absolute path of the project
 * @param files paths from the root
 * @throws Error with Deno's output when a module cannot be parsed or found
 */
export async function readImports(root: string, files: readonly string[]): Promise<Import[]> {
  // One entry that imports every file: `deno info` takes a single root.
  const entry = await Deno.makeTempFile({ prefix: "module_graph_", suffix: ".ts" });
  try {
    const urls = files.map((file) => pathToFileURL(join(root, file)).href);
    await Deno.writeTextFile(entry, urls.map((url) => `import ${JSON.stringify(url)};\n`).join(""));
    const { exitCode, output } = await runCommand(
      [Deno.execPath(), "info", "--json", "--quiet", "--config", join(root, "deno.json"), entry],
      { cwd: root, env: { NO_COLOR: "1" } },
    );
    if (exitCode !== 0) throw new Error(output);
    const texts = await Promise.all(files.map((file) => Deno.readTextFile(join(root, file))));
    const known = new Set(files);
    return [
      ...importsOf(JSON.parse(output), root, known),
      ...files.flatMap((file, index) => namedByUrl(file, texts[index]!, known)),
    ];
  } finally {
    await Deno.remove(entry);
  }
}

/** The imports that the JSON of `deno info` tells about the project's own files. */
export function importsOf(info: Info, root: string, files: ReadonlySet<string>): Import[] {
  const imports: Import[] = [];
  for (const module of info.modules) {
    const from = fromRoot(module.specifier, root);
    if (!files.has(from)) continue;
    if (module.error !== undefined) throw new Error(`${from}: ${module.error}`);
    for (const dependency of module.dependencies ?? []) {
      const target = dependency.code ?? dependency.type ?? {};
      if (target.error !== undefined) throw new Error(`${from}: ${target.error}`);
      const to = fromRoot(target.specifier ?? dependency.specifier, root);
      imports.push({ from, to, specifier: dependency.specifier });
    }
  }
  return imports;
}

const COMMENT_LINE = /^\s*(?:\/\/|\/?\*).*$/gm;
const OWN_URL =
  /\b(?:new URL|import\.meta\.resolve)\(\s*["'`]([^"'`]+)["'`],?\s*(?:import\.meta\.url\b|\))/g;

/** What `deno info` does not tell: `new URL("./a.ts", import.meta.url)`, `import.meta.resolve("./a.ts")`. */
function namedByUrl(from: string, text: string, files: ReadonlySet<string>): Import[] {
  return [...text.replaceAll(COMMENT_LINE, "").matchAll(OWN_URL)].map(([, specifier]) => ({
    from,
    to: posix.join(posix.dirname(from), specifier!),
    specifier: specifier!,
  })).filter(({ to }) => files.has(to));
}

function fromRoot(specifier: string, root: string): string {
  if (!specifier.startsWith("file:")) return specifier;
  return relative(root, fileURLToPath(specifier)).replaceAll(sep, "/");
}
