import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { runDeno } from "./run_deno.ts";

/** What a package ships, found by following imports. */
export interface ShippedModules {
  /** TypeScript modules, by their paths from the root of the repository. */
  readonly modules: readonly string[];
  /** JSON documents that they import. */
  readonly documents: readonly string[];
  /** Libraries that they import, each with its exact version. */
  readonly libraries: Readonly<Record<string, string>>;
}

/**
 * Follows the imports of the given modules.
 *
 * @param root the folder of the repository
 * @param entries paths from there
 * @throws Error for an import that does not resolve
 */
export async function shippedModules(
  root: string,
  entries: readonly string[],
): Promise<ShippedModules> {
  const found = await Promise.all(entries.map((entry) => graphOf(root, entry)));
  return merge(found.flat());
}

interface GraphModule {
  readonly kind: string;
  readonly specifier: string;
  readonly error?: string;
}

async function graphOf(root: string, entry: string): Promise<GraphModule[]> {
  const { modules } = JSON.parse(await runDeno(root, ["info", "--json", entry]));
  return modules.map((module: GraphModule) => {
    if (module.error !== undefined) throw new Error(`${module.specifier}: ${module.error}`);
    const { kind, specifier } = module;
    if (!specifier.startsWith("file:")) return { kind, specifier };
    return { kind, specifier: relative(root, fileURLToPath(specifier)).replaceAll(sep, "/") };
  });
}

function merge(graph: readonly GraphModule[]): ShippedModules {
  const named = (kind: string) =>
    [...new Set(graph.filter((module) => module.kind === kind).map(({ specifier }) => specifier))]
      .sort();
  return {
    modules: named("esm"),
    documents: named("asserted"),
    libraries: Object.fromEntries(named("npm").map(libraryOf)),
  };
}

/** Name and version in `npm:/@scope/name@1.2.3/path`. */
function libraryOf(specifier: string): [string, string] {
  const match = /^npm:\/?((?:@[^/@]+\/)?[^/@]+)@(\d+\.\d+\.\d+[^/]*)(?:\/|$)/.exec(specifier);
  if (match === null) throw new Error(`${specifier} does not name a library and its version`);
  return [match[1]!, match[2]!];
}
