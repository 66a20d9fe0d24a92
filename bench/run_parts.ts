/** Runs the parts of the table again and again, and keeps what is measured after each of them. */
import { isWhole } from "./join_runs.ts";
import { type MachineLoad, othersCores, QUIET_CORES } from "./machine_load.ts";
import { expectedSeconds, progressText } from "./progress.ts";
import type { Run, Runs } from "./result.ts";
import { fourDigits } from "./statistics.ts";

/** What is measured in one go: a row, a point of growth, disk. */
export interface Part {
  id: string;
  /** A name of several parts. */
  group?: string;
  title: string;
  /** Puts what it measured into the run. */
  measure(run: Run): Promise<void>;
}

export interface RunPartsOptions {
  parts: readonly Part[];
  /** How many whole runs to make. */
  times: number;
  /** What earlier runs took, by part: from it the end is expected. */
  knownSeconds: ReadonlyMap<string, number>;
  /** Called after each part. */
  save(runs: Runs): Promise<void>;
  /** Called after each whole run. */
  afterRun(runs: Runs): Promise<void>;
  tell(text: string): void;
  readLoad(): MachineLoad | null;
  nowMs(): number;
}

/**
 * Adds runs until there are so many whole ones. The last one, if it was cut off, is completed first.
 * @param runs changed in place
 */
export async function runParts(runs: Runs, options: RunPartsOptions): Promise<void> {
  const { parts, times, save, afterRun, tell, readLoad, nowMs } = options;
  const known = new Map(options.knownSeconds);
  const ids = parts.map(({ id }) => id);
  const beganMs = nowMs();
  for (;;) {
    let run = runs.runs.at(-1);
    if (run === undefined || isWhole(run, ids)) {
      if (runs.runs.length >= times) return;
      run = { measured_at: dayOf(nowMs()), seconds: {}, rows: [] };
      runs.runs.push(run);
    }
    for (const [i, part] of parts.entries()) {
      if (run.seconds[part.id] !== undefined) continue;
      const left = ids.filter((id) => run.seconds[id] === undefined);
      const later = Array.from({ length: times - runs.runs.length }, () => ids).flat();
      const head = progressText({
        run: runs.runs.length,
        runs: times,
        part: i + 1,
        parts: parts.length,
        passedMs: nowMs() - beganMs,
        nowMs: nowMs(),
        leftSeconds: expectedSeconds([...left, ...later], known),
      });
      tell(`\n[${head}] ${part.id}: ${part.title}`);
      const partBeganMs = nowMs();
      const loadBefore = readLoad();
      await part.measure(run);
      const others = othersCores(loadBefore, readLoad());
      if (others !== undefined) {
        (run.othersCores ??= {})[part.id] = fourDigits(others);
        if (others > QUIET_CORES) {
          tell(`    not quiet, so no claim: other programs kept ${others.toFixed(2)} cores busy`);
        }
      }
      const seconds = Math.round((nowMs() - partBeganMs) / 100) / 10;
      run.seconds[part.id] = seconds;
      run.measured_at = dayOf(nowMs());
      known.set(part.id, seconds);
      await save(runs);
    }
    await afterRun(runs);
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
