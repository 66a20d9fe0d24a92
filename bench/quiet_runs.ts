/** Runs without what was measured while other programs kept the machine busy. */
import { QUIET_CORES } from "./machine_load.ts";
import { growthPartId, type Run, type Runs } from "./result.ts";

/** @returns the same runs, in which each noisy row says so in place of its figures; growth and disk fall out */
export function quietRuns(runs: Runs): Runs {
  return { ...runs, runs: runs.runs.map(quietRun) };
}

function quietRun(run: Run): Run {
  const { rows, growth, disk, ...rest } = run;
  const keptGrowth = growth?.filter((point) => isQuiet(run, growthPartId(point)));
  return {
    ...rest,
    rows: rows.map((row) => {
      if (isQuiet(run, row.id) || row.notMeasured !== undefined) return row;
      const { id, title, unit, target } = row;
      const cores = run.othersCores![id]!.toFixed(2);
      return { id, title, unit, target, notMeasured: `other programs kept ${cores} cores busy` };
    }),
    ...(keptGrowth === undefined || keptGrowth.length === 0 ? {} : { growth: keptGrowth }),
    ...(disk === undefined || !isQuiet(run, "disk") ? {} : { disk }),
  };
}

/** True, too, of what was measured before it was recorded, and where the system does not tell it. */
function isQuiet({ othersCores }: Run, part: string): boolean {
  return (othersCores?.[part] ?? 0) <= QUIET_CORES;
}
