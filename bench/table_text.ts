import { figure, type Result } from "./result.ts";

const HEADER = ["row", "ours", "reference", "unit", "ratio", "target", ""];

/** Results as lines of aligned columns. */
export function tableText(results: readonly Result[]): string {
  const lines = results.flatMap((result) => [
    [
      result.id,
      result.ours === undefined ? "not measured" : figure(result.ours),
      result.reference === undefined ? "" : figure(result.reference),
      result.unit,
      result.ratio?.toFixed(2) ?? "",
      result.target ?? "",
      verdict(result.met),
    ],
    ...(result.cpuTargets ?? []).map(({ thread, us, targetUs, met }) => [
      `  CPU, ${thread} thread`,
      figure(us),
      "",
      "us a request",
      "",
      `at most ${targetUs}`,
      verdict(met),
    ]),
  ]);
  const widths = HEADER.map((_, i) =>
    Math.max(...[HEADER, ...lines].map((line) => line[i]!.length))
  );
  return [HEADER, ...lines]
    .map((line) => line.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd())
    .join("\n");
}

/** "met" or "missed"; nothing where there is no target. */
export function verdict(met: boolean | undefined): string {
  return met === undefined ? "" : met ? "met" : "missed";
}
