import { isToolkitCore } from "./import_rules.ts";

/** A file of the project: its path from the root and its text. */
export interface SourceFile {
  path: string;
  text: string;
}

const MAX_LINES = 300;
const SOURCE = /\.(?:ts|tsx|js|mjs|css|html|py)$/;

const REGISTRY_HOST =
  /\b(?:registry\.(?:npmjs|yarnpkg|npmmirror)\.[a-z]+|npm\.jsr\.io|jsr\.io|(?<!\.)deno\.land|esm\.sh|unpkg\.com|cdn\.jsdelivr\.net|pypi\.org|files\.pythonhosted\.org|static\.crates\.io|proxy\.golang\.org)\b/g;

// A path of somebody's machine: it means nothing on another one.
const MACHINE_PATH =
  /(?<![A-Za-z0-9_.\-~*])\/(?:work|root|farm|opt|Users|home\/[A-Za-z0-9_-]+|tmp\/[A-Za-z0-9_-]+)\/(?=\w)/g;

/** Text that is not of the project's own making. */
const FOREIGN = /^(?:tests\/vectors\/)|\.(?:png|jpg|ico|woff2|pem|eml|kv)$/;

/** No committed file names a package registry: versions and their hashes stand in deno.lock. */
export function findRegistryHosts({ path, text }: SourceFile): string[] {
  return placesOf(path, text, REGISTRY_HOST).map((place) => `${place}: a registry's host`);
}

/** No committed file names a path of one machine. */
export function findMachinePaths({ path, text }: SourceFile): string[] {
  if (FOREIGN.test(path)) return [];
  return placesOf(path, text, MACHINE_PATH).map((place) => `${place}: a path of one machine`);
}

/**
 * Source files over 300 lines that do not say why in a comment among their first ten lines. A file
 * is cut where the thought ends, so that this only tells where to look.
 */
export function findLongFiles({ path, text }: SourceFile): string[] {
  if (!SOURCE.test(path) || FOREIGN.test(path)) return [];
  const lines = text.split("\n");
  const length = text.endsWith("\n") ? lines.length - 1 : lines.length;
  if (length <= MAX_LINES) return [];
  if (lines.slice(0, 10).some((line) => /Over 300 lines: .{20,}/.test(line))) return [];
  return [
    `${path}: ${length} lines, more than ${MAX_LINES}; if it is one thing, begin it with a comment ` +
    `"Over 300 lines: " and the reason`,
  ];
}

const IMPURE =
  /(?<![\w.$"'`])(?:Deno|process|Buffer|navigator|performance)\s*\.|globalThis\s*\.\s*(?:Deno|process|Buffer|fetch)\b|(?<![\w.$])(?:fetch|setTimeout|setInterval|require)\s*\(|(?<![\w.$])Date\s*\.\s*now\b|\bnew Date\s*\(\s*\)/g;

/** The toolkit's core asks nothing of the machine: no Deno, no network, no clock, no environment. */
export function findImpureCode({ path, text }: SourceFile): string[] {
  if (!isToolkitCore(path) || !/\.tsx?$/.test(path)) return [];
  return placesOf(path, blankComments(text), IMPURE)
    .map((place) => `${place}: the core of the toolkit takes this as an argument, or not at all`);
}

/** Comments and plain strings blanked, line breaks kept. */
function blankComments(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g,
    (match) => match.replace(/[^\n]/g, " "),
  );
}

// The default import is strict, and so are `strictEqual as equal` and its like.
const LOOSE_ASSERTION =
  /^[ *]*import\s[^;"']*?(?<![\w$]|\bas\s)(equal|notEqual|deepEqual|notDeepEqual|\*\s+as\s+\w+)\b[^;"']*?from\s+"node:assert\/strict"/gm;

/**
 * Finds loose comparisons: in Deno `equal`, `notEqual`, `deepEqual` and `notDeepEqual` of
 * "node:assert/strict" take 1 for "1" when they are imported by name or with `* as`.
 */
export function findLooseAssertions({ path, text }: SourceFile): string[] {
  if (!/\.(?:ts|tsx|md)$/.test(path)) return [];
  return [...text.matchAll(LOOSE_ASSERTION)].map(({ 1: name, index }) => {
    const line = text.slice(0, index).split("\n").length;
    return `${path}:${line} "${name}": compares loosely in Deno; import assert from the same ` +
      `module, or name strictEqual and its like`;
  });
}

function placesOf(path: string, text: string, pattern: RegExp): string[] {
  const places: string[] = [];
  text.split("\n").forEach((line, index) => {
    for (const match of line.matchAll(pattern)) places.push(`${path}:${index + 1} "${match[0]}"`);
  });
  return places;
}
