/** Every target of a table with its verdict: ratios of rows, CPU times, growth. */
import { growthVerdicts } from "./growth_targets.ts";
import type { Joined } from "./join_runs.ts";
import { figure, targetText } from "./result.ts";
import { ratioSpread, spreadText } from "./table_text.ts";

export interface Verdict {
  /** Of the row or of the growth target. */
  id: string;
  what: string;
  value: string;
  wanted: string;
  met: boolean;
}

/** @returns nothing of what was not measured */
export function allVerdicts(results: Joined): Verdict[] {
  const ofRows = results.rows.flatMap(({ id, ratio, met, target, spread, cpuTargets = [] }) => [
    ...(ratio === undefined || met === undefined ? [] : [{
      id,
      what: "the ratio is",
      value: `${ratio.toFixed(2)}${inBrackets(ratioSpread(spread?.ratio))}`,
      wanted: targetText(target),
      met,
    }]),
    ...cpuTargets.map(({ thread, us, targetUs, met }) => ({
      id,
      what: `the ${thread} thread takes`,
      value: `${figure(us)} µs a request${inBrackets(spreadText(spread?.cpuUs?.[thread]))}`,
      wanted: `at most ${targetUs}`,
      met,
    })),
  ]);
  const ofGrowth = growthVerdicts(results).map(({ id, what, value, spread, unit, most, met }) => ({
    id,
    what: `${what}:`,
    value: `${figure(value)} ${unit}${inBrackets(spreadText(spread))}`,
    wanted: `at most ${most.toLocaleString("en")}`,
    met,
  }));
  return [...ofRows, ...ofGrowth];
}

function inBrackets(text: string): string {
  return text === "" ? "" : ` (${text})`;
}
