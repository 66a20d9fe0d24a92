import { join, relative, sep } from "node:path";
import { runCommand } from "./run_command.ts";

// What .gitignore names, for checkouts without git.
const UNTRACKED = /^(?:\.git|data|data-mail|dist|node_modules)$|^\.env$|\.log$/;

/**
 * Paths of all files that belong to the project, relative to its root, with `/`, sorted: those that
 * git tracks and those that it would add. Without git, all but the ignored ones.
 */
export async function listProjectFiles(root: string): Promise<string[]> {
  const files = await listWithGit(root) ?? await listWithoutGit(root);
  return files.sort();
}

async function listWithGit(root: string): Promise<string[] | null> {
  try {
    const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"] as const;
    const { exitCode, output } = await runCommand(["git", ...args], { cwd: root });
    if (exitCode !== 0) return null;
    const paths = [...new Set(output.split("\0").filter((path) => path !== ""))];
    const present = await Promise.all(paths.map((path) => isFile(join(root, path))));
    return paths.filter((_, index) => present[index]);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** A file deleted but not yet committed is still in git's list. */
async function isFile(path: string): Promise<boolean> {
  return await Deno.stat(path).then((stat) => stat.isFile, () => false);
}

/** All files below a folder but those that .gitignore names; for a checkout without git. */
export async function listWithoutGit(root: string, folder = root): Promise<string[]> {
  const files: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (UNTRACKED.test(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory) files.push(...await listWithoutGit(root, path));
    else if (entry.isFile) files.push(relative(root, path).replaceAll(sep, "/"));
  }
  return files.filter((path) => !/^bench\/results\/(?!latest\.json$)/.test(path));
}
