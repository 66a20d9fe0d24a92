/** The part of docs/performance.md that a run of the benchmark writes. */
import { LONGEST_SEARCH_MS } from "./growth.ts";
import { growthVerdicts } from "./growth_targets.ts";
import type { Joined, JoinedResult } from "./join_runs.ts";
import type { Chart } from "./line_charts.ts";
import { QUIET_CORES } from "./machine_load.ts";
import { figure, targetText } from "./result.ts";
import type { Spread } from "./statistics.ts";
import { ratioSpread, spreadText, verdict } from "./table_text.ts";
import { allVerdicts } from "./verdicts.ts";

/** Below this share of a core the load generator does not bound what it measures. */
const GENERATOR_BUSY = 0.9;

/** Machine, verdicts, rows, growth and disk as Markdown. */
export function pageText(results: Joined): string {
  const { machine, rows, growth, disk } = results;
  const parts = [
    "## The machine and the runs",
    `${machine.cores} cores of ${machine.cpu}, ${machine.memory_gib} GiB of memory, ` +
    `${machine.os}, Deno ${machine.deno}.`,
    runText(results),
    "## Targets",
    ...targetsText(results),
    "## Rows",
    rowsTable(results),
    "## CPU and time a request",
    "Of ours by thread, with the lowest and the highest of several runs in brackets.",
    costsTable(rows),
    ...notes(results),
  ];
  if (growth !== undefined) {
    parts.push("## Growth", "![Growth curves](performance_growth.svg)", growthTable(results));
    const targets = growthTargetsTable(results);
    if (targets !== undefined) parts.push(targets);
  }
  if (disk !== undefined) parts.push("## Disk", diskTable(results));
  return parts.join("\n\n");
}

function runText({ runs, options }: Joined): string {
  const whole = runs.filter(({ whole }) => whole);
  const last = runs.at(-1);
  if (last === undefined) return "No run has been made.";
  const quiet = ` ${quietText(runs)}`;
  const how = options === "" ? "" : ` with \`${options}\``;
  const cutOff = runs.length > whole.length ? " Another one was cut off; its rows count." : "";
  if (whole.length === 0) {
    return `A run${how} on ${last.measured_at} was cut off before its end.${quiet}`;
  }
  const took = whole.map(({ took_minutes }) => took_minutes).join(", ");
  return whole.length === 1
    ? `One whole run${how}, on ${last.measured_at}, took ${took} minutes.${cutOff}${quiet}`
    : `The table was run ${whole.length} times${how}, last on ${last.measured_at}; the runs took ` +
      `${took} minutes. Each figure is the median of the runs.${cutOff}${quiet}`;
}

/** How far the machine was the benchmark's own. */
function quietText(runs: Joined["runs"]): string {
  if (runs.every(({ othersCores }) => othersCores === undefined)) {
    return "How busy other programs kept the machine was not recorded.";
  }
  const busiest = runs.map(({ othersCores }) => othersCores?.toFixed(2) ?? "not recorded");
  return `Cores that other programs kept busy, at most: ${busiest.join(", ")}; what was measured ` +
    `beside more than ${QUIET_CORES} is left out.`;
}

/** How many targets are met, and each that is missed. */
function targetsText(results: Joined): string[] {
  const verdicts = allVerdicts(results);
  const missed = verdicts.filter(({ met }) => !met);
  const met = verdicts.length - missed.length;
  const unmeasured = results.rows.filter(({ ratio }) => ratio === undefined).length;
  const head = `${met} of ${verdicts.length} targets are met.` +
    (unmeasured === 0 ? "" : ` Rows that were not measured: ${unmeasured}.`);
  if (missed.length === 0) return [head];
  const lines = missed.map(({ id, what, value, wanted, said }) =>
    `- ${code(id)}: ${what} ${value}, where ${wanted} is wanted: ${said}`
  );
  return [
    `${head} These are not, for the reasons under [What bounds what](#what-bounds-what):`,
    lines.join("\n"),
  ];
}

function rowsTable({ rows, runs }: Joined): string {
  const several = runs.length > 1;
  const header = [
    "row",
    "what",
    "ours",
    "reference",
    "unit",
    "ratio",
    "runs from to",
    "target",
    "",
  ];
  const lines = rows.flatMap((row) => [
    row.ours === undefined
      ? [code(row.id), row.title, "not measured", "", row.unit, "", "", targetText(row.target), ""]
      : [
        code(row.id),
        row.title,
        figure(row.ours),
        figure(row.reference!),
        row.unit,
        row.ratio!.toFixed(2),
        ratioSpread(row.spread?.ratio),
        targetText(row.target),
        verdict(row),
      ],
    ...(row.cpuTargets ?? []).map(({ thread, us, targetUs, met, metIn }) => [
      code(row.id),
      `CPU of the ${thread} thread`,
      figure(us),
      "",
      "µs a request",
      "",
      spreadText(row.spread?.cpuUs?.[thread]),
      `at most ${targetUs}`,
      verdict({ met, metIn, runs: row.runs }),
    ]),
  ]);
  const shown = (line: string[]) => several ? line : line.toSpliced(6, 1);
  return table(shown(header), lines.map(shown));
}

function costsTable(rows: readonly JoinedResult[]): string {
  const lines = rows.flatMap(({ id, oursDetail, referenceDetail, spread }) =>
    [["ours", oursDetail] as const, ["reference", referenceDetail] as const]
      .filter(([, detail]) => detail !== undefined)
      .map(([side, detail]) => {
        const { p50Ms, p99Ms, cpuUs, generatorShare } = detail!;
        const share = generatorShare === undefined
          ? ""
          : `${Math.round(generatorShare * 100)} %${generatorShare > GENERATOR_BUSY ? " (!)" : ""}`;
        const of = side === "ours" ? spread?.cpuUs : undefined;
        return [
          code(id),
          side,
          optional(p50Ms),
          optional(p99Ms),
          optional(cpuUs?.main, of?.main),
          optional(cpuUs?.store, of?.store),
          optional(cpuUs?.workers, of?.workers),
          share,
        ];
      })
  );
  return table(
    ["row", "side", "p50 ms", "p99 ms", "main µs", "store µs", "workers µs", "generator"],
    lines,
  );
}

function optional(value: number | null | undefined, spread?: Spread): string {
  if (value === undefined || value === null) return "";
  return spread === undefined ? figure(value) : `${figure(value)} (${spreadText(spread)})`;
}

function notes({ rows, runs }: Joined): string[] {
  const lines = rows.flatMap(({ id, note, notMeasured }) =>
    [note, notMeasured === undefined ? undefined : `not measured: ${notMeasured}`]
      .filter((text) => text !== undefined)
      .map((text) => `- ${code(id)}: ${text}`)
  );
  const title = runs.length > 1 ? "## Notes of the last run" : "## Notes of the run";
  return lines.length === 0 ? [] : [title, lines.join("\n")];
}

function growthTable({ growth, growthSpread = [] }: Joined): string {
  return table(
    [
      "agents",
      "messages",
      "file MiB",
      "start ms",
      "MiB after the start",
      "sends/s",
      "send p99 ms",
      "polls/s",
      "poll p99 ms",
      "MiB when warm",
      "first search ms",
      "MiB after it",
    ],
    growth!.map((point, i) => [
      point.agents.toLocaleString("en"),
      point.messages.toLocaleString("en"),
      figure(point.fileMiB),
      optional(point.startMs, growthSpread[i]?.startMs),
      figure(point.startMiB),
      figure(point.sendsPerSecond),
      figure(point.sendP99Ms),
      figure(point.pollsPerSecond),
      figure(point.pollP99Ms),
      optional(point.warmMiB, growthSpread[i]?.warmMiB),
      point.firstSearchMs === null
        ? `over ${LONGEST_SEARCH_MS.toLocaleString("en")}`
        : figure(point.firstSearchMs),
      optional(point.searchedMiB, growthSpread[i]?.searchedMiB),
    ]),
  );
}

function growthTargetsTable(results: Joined): string | undefined {
  const verdicts = growthVerdicts(results);
  if (verdicts.length === 0) return undefined;
  return table(
    ["target", "what", "measured", "unit", "at most", ""],
    verdicts.map(({ id, what, value, spread, unit, most, met }) => [
      code(id),
      what,
      optional(value, spread),
      unit,
      most.toLocaleString("en"),
      verdict({ met }),
    ]),
  );
}

/** What the picture beside the growth table shows. */
export function growthCharts({ growth = [] }: Pick<Joined, "growth">): Chart[] {
  const chart = (title: string, read: (point: typeof growth[number]) => number | null) => ({
    title,
    points: growth.filter(({ agents, messages }) => agents === messages)
      .flatMap((point) => {
        const y = read(point);
        return y === null ? [] : [{ x: point.agents, y }];
      }),
  });
  return [
    chart("start-up, ms", ({ startMs }) => startMs),
    chart("memory when warm, MiB", ({ warmMiB }) => warmMiB),
    chart("first search, ms", ({ firstSearchMs }) => firstSearchMs),
    chart("sends/s", ({ sendsPerSecond }) => sendsPerSecond),
    chart("polls/s", ({ pollsPerSecond }) => pollsPerSecond),
    chart("store file, MiB", ({ fileMiB }) => fileMiB),
  ];
}

function diskTable({ disk }: Joined): string {
  return table(
    ["a", "connections", "bytes written", "bytes kept", "rows written", "rows kept", "syncs"],
    disk!.map(({ what, connections, writtenBytes, keptBytes, rowsWritten, rowsKept, syncs }) => [
      what ?? "send",
      String(connections),
      figure(writtenBytes),
      figure(keptBytes),
      optional(rowsWritten),
      optional(rowsKept),
      syncs === null ? "not measured: strace is not installed" : String(syncs),
    ]),
  );
}

function table(header: readonly string[], lines: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...lines.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}
