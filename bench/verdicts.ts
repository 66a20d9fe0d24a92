/** Every target of a table with its verdict: ratios of rows, CPU times, growth, disk. */
import type { DiskCost } from "./disk_cost.ts";
import { growthVerdicts } from "./growth_targets.ts";
import type { Joined, JoinedResult } from "./join_runs.ts";
import { figure, targetText } from "./result.ts";
import { ratioSpread, spreadText, verdict } from "./table_text.ts";

/** What one mail of 6 KB may write to the disk. */
const MAIL_IN_BYTES = 120_000;

export interface Verdict {
  /** Of the row or of the growth target. */
  id: string;
  what: string;
  value: string;
  wanted: string;
  met: boolean;
  /** The verdict in words. */
  said: string;
}

/** @returns nothing about what was not measured */
export function allVerdicts(results: Joined): Verdict[] {
  const ofRows = results.rows.flatMap(ofRow);
  const ofGrowth = growthVerdicts(results).map(({ id, what, value, spread, unit, most, met }) => ({
    id,
    what: `${what}:`,
    value: `${figure(value)} ${unit}${inBrackets(spreadText(spread))}`,
    wanted: `at most ${most.toLocaleString("en")}`,
    met,
    said: verdict({ met }),
  }));
  return [...ofRows, ...ofGrowth, ...(results.disk ?? []).flatMap(ofDisk)];
}

function ofDisk({ what, writtenBytes }: DiskCost): Verdict[] {
  if (what !== "mail in") return [];
  const met = writtenBytes <= MAIL_IN_BYTES;
  return [{
    id: "disk-mail-in",
    what: "a mail that comes in writes",
    value: `${figure(writtenBytes)} bytes`,
    wanted: `at most ${MAIL_IN_BYTES.toLocaleString("en")}`,
    met,
    said: verdict({ met }),
  }];
}

function ofRow(row: JoinedResult): Verdict[] {
  const { id, ratio, met, target, spread, runs, cpuTargets = [] } = row;
  return [
    ...(ratio === undefined || met === undefined ? [] : [{
      id,
      what: "the ratio is",
      value: `${ratio.toFixed(2)}${inBrackets(ratioSpread(spread?.ratio))}`,
      wanted: targetText(target),
      met,
      said: verdict(row),
    }]),
    ...cpuTargets.map(({ thread, us, targetUs, met, metIn }) => ({
      id,
      what: `the ${thread} thread takes`,
      value: `${figure(us)} µs a request${inBrackets(spreadText(spread?.cpuUs?.[thread]))}`,
      wanted: `at most ${targetUs}`,
      met,
      said: verdict({ met, metIn, runs }),
    })),
  ];
}

function inBrackets(text: string): string {
  return text === "" ? "" : ` (${text})`;
}
