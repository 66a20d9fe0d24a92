/** Results in a file: the runs themselves, and before them what they come to. */
import type { Joined } from "./join_runs.ts";
import type { Runs } from "./result.ts";

/** @returns undefined where there is no file, or one that keeps no runs */
export async function readRuns(path: URL): Promise<Runs | undefined> {
  try {
    const { machine, options, seed, parts, runs } = JSON.parse(await Deno.readTextFile(path));
    return Array.isArray(parts) ? { machine, options, seed, parts, runs } : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Whole or not at all: a process that is killed meanwhile leaves the file before. */
export async function writeRuns(path: URL, runs: Runs, told: Joined): Promise<void> {
  const { runs: summary, ...joined } = told;
  const text = JSON.stringify({ ...joined, summary, parts: runs.parts, runs: runs.runs }, null, 2);
  await Deno.mkdir(new URL("./", path), { recursive: true });
  const half = new URL(`${path.href}.half`);
  await Deno.writeTextFile(half, text + "\n");
  await Deno.rename(half, path);
}

/**
 * Why runs of another time cannot be joined with those that would be measured now.
 * @returns null where they can
 */
export function cannotJoin(before: Runs, now: Omit<Runs, "runs">): string | null {
  for (const what of ["machine", "options", "seed", "parts"] as const) {
    const [was, is] = [JSON.stringify(before[what]), JSON.stringify(now[what])];
    if (was !== is) return `its ${what} differ: ${was} there, ${is} now`;
  }
  return null;
}
