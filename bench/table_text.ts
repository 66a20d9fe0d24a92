import type { JoinedResult } from "./join_runs.ts";
import { figure, type Result, targetText } from "./result.ts";
import type { Spread } from "./statistics.ts";

const HEADER = ["row", "ours", "reference", "unit", "ratio", "runs from to", "target", ""];

/** Results as lines of aligned columns. */
export function tableText(results: readonly JoinedResult[]): string {
  const lines = results.flatMap((result) => [
    [
      result.id,
      result.ours === undefined ? "not measured" : figure(result.ours),
      result.reference === undefined ? "" : figure(result.reference),
      result.unit,
      result.ratio?.toFixed(2) ?? "",
      ratioSpread(result.spread?.ratio),
      targetText(result.target),
      verdict(result),
    ],
    ...(result.cpuTargets ?? []).map(({ thread, us, targetUs, met, metIn }) => [
      `  CPU, ${thread} thread`,
      figure(us),
      "",
      "us a request",
      "",
      spreadText(result.spread?.cpuUs?.[thread]),
      `at most ${targetUs}`,
      verdict({ met, metIn, runs: result.runs }),
    ]),
  ]);
  const widths = HEADER.map((_, i) =>
    Math.max(...[HEADER, ...lines].map((line) => line[i]!.length))
  );
  return [HEADER, ...lines]
    .map((line) => line.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd())
    .join("\n");
}

/** "met" or "missed", with the runs that say otherwise; nothing where there is no target. */
export function verdict(
  { met, metIn, runs }: Pick<Result, "met"> & Partial<Pick<JoinedResult, "metIn" | "runs">>,
): string {
  if (met === undefined) return "";
  const text = met ? "met" : "missed";
  const apart = metIn !== undefined && runs !== undefined && metIn > 0 && metIn < runs;
  return apart ? `${text}; met in ${metIn} of ${runs} runs` : text;
}

/** Nothing of one run, which has no spread. */
export function spreadText(spread: Spread | undefined): string {
  return spread === undefined ? "" : `${figure(spread.lowest)} to ${figure(spread.highest)}`;
}

export function ratioSpread(spread: Spread | undefined): string {
  return spread === undefined ? "" : `${spread.lowest.toFixed(2)} to ${spread.highest.toFixed(2)}`;
}
