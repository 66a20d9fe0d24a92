import { findCircles } from "./circles.ts";
import type { Import } from "./module_graph.ts";

/** Says what is wrong with an import, or null when the rule has nothing against it. */
type ImportRule = (one: Import) => string | null;

/** All rules about a single import; docs/architecture.md says why they hold. */
const importRules: readonly ImportRule[] = [
  librariesByName,
  wordlistsImportNothing,
  toolkitImportsInward,
  toolkitCoreIsPure,
  serverImportsInward,
  testsStayOutside,
];

/** One line for each import that breaks a rule and for each circle. */
export function findImportFaults(imports: readonly Import[]): string[] {
  const faults: string[] = [];
  for (const one of imports) {
    for (const rule of importRules) {
      const reason = rule(one);
      if (reason !== null) faults.push(`${one.from} imports ${one.to}: ${reason}`);
    }
  }
  const inside = imports.filter(({ to }) => !isLibrary(to)).map((one) =>
    [one.from, one.to] as const
  );
  for (const circle of findCircles(inside)) {
    faults.push(`circle: ${circle.join(" -> ")}: move what two of them need into a third file`);
  }
  return faults;
}

function librariesByName({ specifier }: Import): string | null {
  return /^(?:npm|jsr|https?|file|data):/.test(specifier)
    ? "name libraries in the imports of deno.json, with an exact version"
    : null;
}

function wordlistsImportNothing({ from, to }: Import): string | null {
  if (!from.startsWith("wordlists/") || isTest(from)) return null;
  return to.startsWith("wordlists/") ? null : "wordlists/ is data and imports nothing";
}

function toolkitImportsInward({ from, to }: Import): string | null {
  if (!from.startsWith("toolkit/") || isTest(from) || isLibrary(to)) return null;
  return /^(?:toolkit|wordlists)\//.test(to)
    ? null
    : "toolkit/ imports only itself and wordlists/, so that it works without a server";
}

function toolkitCoreIsPure({ from, to }: Import): string | null {
  return isToolkitCore(from) && to.startsWith("node:")
    ? "the core of the toolkit runs in browsers, which have no node:"
    : null;
}

function serverImportsInward({ from, to }: Import): string | null {
  if (!from.startsWith("server/") || isTest(from) || isLibrary(to)) return null;
  if (/^toolkit\/(?:cli|page|build)\//.test(to)) {
    return "the command line, the page and the build of the toolkit are no library";
  }
  // Documents are shown as they stand: the text of Markdown, of the examples, of the verifier.
  const isDocument = /^(?:SECURITY|docs\/[a-z-]+)\.md$|^docs\/(?:verify\.html$|examples\/)/.test(
    to,
  );
  return isDocument || /^(?:server|toolkit|wordlists)\//.test(to)
    ? null
    : "server/ imports only itself, toolkit/, wordlists/ and the text of documents";
}

function testsStayOutside({ from, to }: Import): string | null {
  if (isTest(from) || from.startsWith("bench/")) return null;
  return isTest(to) || to.startsWith("bench/") ? "what ships does not import tests" : null;
}

/** Whether a file of the toolkit belongs to its pure core. */
export function isToolkitCore(path: string): boolean {
  return path.startsWith("toolkit/") && !isTest(path) && !isOnToolkitCore(path);
}

/** Whether a file stands in one of the folders that stand on the toolkit's core. */
function isOnToolkitCore(path: string): boolean {
  return /^toolkit\/(?:client|node|cli|page|build)\//.test(path);
}

function isTest(path: string): boolean {
  return path.startsWith("tests/") || /_test\.[a-z]+$/.test(path);
}

function isLibrary(target: string): boolean {
  return /^(?:node|npm|jsr|https?|data):/.test(target);
}
