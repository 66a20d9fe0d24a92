/** The part of docs/performance.md that a run of the benchmark writes. */
import type { Chart } from "./line_charts.ts";
import { figure, type Result, type Results } from "./result.ts";
import { verdict } from "./table_text.ts";

/** Below this share of a core the load generator does not bound what it measures. */
const GENERATOR_BUSY = 0.9;

/** Machine, rows, growth and disk as Markdown. */
export function pageText(results: Results): string {
  const { machine, growth, disk } = results;
  const parts = [
    "## The machine",
    `${machine.cores} cores of ${machine.cpu}, ${machine.memory_gib} GiB of memory, ` +
    `${machine.os}, Deno ${machine.deno}. ${runText(results)}`,
    "## Rows",
    rowsTable(results.rows),
    "## CPU and time a request",
    costsTable(results.rows),
    ...notes(results.rows),
  ];
  if (growth !== undefined) {
    parts.push("## Growth", "![Growth curves](performance_growth.svg)", growthTable(results));
  }
  if (disk !== undefined) parts.push("## Disk", diskTable(results));
  return parts.join("\n\n");
}

function runText({ measured_at, took_minutes, options }: Results): string {
  if (measured_at === undefined) return "No whole run has been made; rows were measured singly.";
  const how = options === undefined || options === "" ? "" : ` with \`${options}\``;
  return `The last whole run${how} was on ${measured_at} and took ${took_minutes} minutes.`;
}

function rowsTable(rows: readonly Result[]): string {
  return table(
    ["row", "what", "ours", "reference", "unit", "ratio", "target", ""],
    rows.flatMap((row) => [
      row.ours === undefined
        ? [code(row.id), row.title, "not measured", "", row.unit, "", row.target ?? "", ""]
        : [
          code(row.id),
          row.title,
          figure(row.ours),
          figure(row.reference!),
          row.unit,
          row.ratio!.toFixed(2),
          row.target ?? "none",
          verdict(row.met),
        ],
      ...(row.cpuTargets ?? []).map(({ thread, us, targetUs, met }) => [
        code(row.id),
        `CPU of the ${thread} thread`,
        figure(us),
        "",
        "µs a request",
        "",
        `at most ${targetUs}`,
        verdict(met),
      ]),
    ]),
  );
}

function costsTable(rows: readonly Result[]): string {
  const lines = rows.flatMap(({ id, oursDetail, referenceDetail }) =>
    [["ours", oursDetail] as const, ["reference", referenceDetail] as const]
      .filter(([, detail]) => detail !== undefined)
      .map(([side, detail]) => {
        const { p50Ms, p99Ms, cpuUs, generatorShare } = detail!;
        const share = generatorShare === undefined
          ? ""
          : `${Math.round(generatorShare * 100)} %${generatorShare > GENERATOR_BUSY ? " (!)" : ""}`;
        return [
          code(id),
          side,
          optional(p50Ms),
          optional(p99Ms),
          optional(cpuUs?.main),
          optional(cpuUs?.store),
          optional(cpuUs?.workers),
          share,
        ];
      })
  );
  return table(
    ["row", "side", "p50 ms", "p99 ms", "main µs", "store µs", "workers µs", "generator"],
    lines,
  );
}

function optional(value: number | undefined): string {
  return value === undefined ? "" : figure(value);
}

function notes(rows: readonly Result[]): string[] {
  const lines = rows.flatMap(({ id, note, notMeasured }) =>
    [note, notMeasured === undefined ? undefined : `not measured: ${notMeasured}`]
      .filter((text) => text !== undefined)
      .map((text) => `- ${code(id)}: ${text}`)
  );
  return lines.length === 0 ? [] : ["## Notes of the run", lines.join("\n")];
}

function growthTable({ growth }: Results): string {
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
    growth!.map((point) => [
      point.agents.toLocaleString("en"),
      point.messages.toLocaleString("en"),
      figure(point.fileMiB),
      figure(point.startMs),
      figure(point.startMiB),
      figure(point.sendsPerSecond),
      figure(point.sendP99Ms),
      figure(point.pollsPerSecond),
      figure(point.pollP99Ms),
      figure(point.warmMiB),
      figure(point.firstSearchMs),
      figure(point.searchedMiB),
    ]),
  );
}

/** What the picture beside the growth table shows. */
export function growthCharts({ growth = [] }: Results): Chart[] {
  const chart = (title: string, read: (point: typeof growth[number]) => number) => ({
    title,
    points: growth.filter(({ agents, messages }) => agents === messages)
      .map((point) => ({ x: point.agents, y: read(point) })),
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

function diskTable({ disk }: Results): string {
  return table(
    ["connections", "bytes written a message", "bytes kept a message", "syncs a message"],
    disk!.map(({ connections, writtenBytes, keptBytes, syncs }) => [
      String(connections),
      figure(writtenBytes),
      figure(keptBytes),
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
