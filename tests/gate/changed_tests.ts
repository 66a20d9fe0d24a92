import { posix } from "node:path";
import type { Import } from "./module_graph.ts";
import { runCommand } from "./run_command.ts";
import type { SourceFile } from "./text_rules.ts";

/** One file that rests on another one, by an import or by naming it. */
export type Edge = Pick<Import, "from" | "to">;

const TEST = /_test\.ts$/;

/** Every test rests on these: libraries and compiler options. */
const UNDER_EVERYTHING = new Set(["deno.json", "deno.lock"]);

const FILE_NAME = /[\w./-]*\w\.(?:ts|js|py|json|md|html|txt|pem)\b/g;

/**
 * The tests that reach a changed file, sorted.
 * @param files all files of the project, from its root
 * @param edges who rests on whom
 * @param changed paths from the root, of deleted files too
 */
export function findTestsOf(
  files: readonly string[],
  edges: Iterable<Edge>,
  changed: readonly string[],
): string[] {
  const tests = files.filter((path) => TEST.test(path)).sort();
  if (changed.some((path) => UNDER_EVERYTHING.has(path))) return tests;
  const users = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const known = users.get(to);
    if (known === undefined) users.set(to, [from]);
    else known.push(from);
  }
  const reached = new Set(changed);
  for (const path of reached) for (const user of users.get(path) ?? []) reached.add(user);
  return tests.filter((path) => reached.has(path));
}

/**
 * Files that a source names in its text instead of importing them: programs that a test starts,
 * documents and vectors that it reads. Names count from the source's folder and from the root.
 */
export function findNamedFiles({ path, text }: SourceFile, files: ReadonlySet<string>): Edge[] {
  const named = new Set<string>();
  for (const [name] of text.matchAll(FILE_NAME)) {
    const fromFolder = posix.join(posix.dirname(path), name);
    const fromRoot = posix.join(".", name.replace(/^\/+/, ""));
    for (const to of [fromFolder, fromRoot]) if (to !== path && files.has(to)) named.add(to);
  }
  return [...named].map((to) => ({ from: path, to }));
}

/**
 * Files that differ from a revision, changed, added, deleted or not yet known to git.
 * @throws Error with git's words when there is no such revision, or no git
 */
export async function listChangedFiles(root: string, revision: string): Promise<string[]> {
  const git = async (...args: string[]) => {
    const { exitCode, output } = await runCommand(["git", ...args], { cwd: root });
    if (exitCode !== 0) throw new Error(output.trim());
    return output.split("\0").filter((path) => path !== "");
  };
  return [
    ...await git("diff", "--name-only", "-z", "--no-renames", revision, "--"),
    ...await git("ls-files", "-z", "--others", "--exclude-standard"),
  ];
}
