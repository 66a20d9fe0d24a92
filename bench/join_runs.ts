/** Several runs as one table: the median of each figure, with the lowest and the highest of the runs. */
import type { DiskCost } from "./disk_cost.ts";
import type { GrowthPoint } from "./growth.ts";
import {
  growthPartId,
  type Machine,
  medianDetail,
  meets,
  type Result,
  type Run,
  type Runs,
} from "./result.ts";
import { fourDigits, median, type Spread, spreadOf } from "./statistics.ts";
import type { ThreadCpu } from "./thread_cpu.ts";

/** A row over all runs that measured it. */
export interface JoinedResult extends Result {
  /** How many runs measured it. */
  runs: number;
  /** In how many of them the ratio met its target. */
  metIn?: number;
  /** Of two or more runs. */
  spread?: RowSpread;
}

export interface RowSpread {
  ours: Spread;
  reference: Spread;
  ratio: Spread;
  /** Of the CPU time that a request of ours takes, by thread. */
  cpuUs?: Record<keyof ThreadCpu, Spread>;
}

/** What the page and the table show. */
export interface Joined {
  machine: Machine;
  options: string;
  seed: number;
  /** How long each run took, and whether it has all parts. */
  runs: RunSummary[];
  /** The day of the last run. */
  measured_at?: string;
  rows: JoinedResult[];
  growth?: GrowthPoint[];
  growthSpread?: GrowthSpread[];
  disk?: DiskCost[];
}

export interface RunSummary {
  measured_at: string;
  took_minutes: number;
  whole: boolean;
  /** The most cores that other programs kept busy during a part, where that was recorded. */
  othersCores?: number;
}

/** The spread of each figure of a point, in the order of the points. */
export type GrowthSpread = Partial<Record<keyof GrowthPoint, Spread>>;

export function isWhole(run: Run, parts: readonly string[]): boolean {
  return parts.every((id) => run.seconds[id] !== undefined);
}

export function minutesOf(run: Run): number {
  const seconds = Object.values(run.seconds).reduce((sum, took) => sum + took, 0);
  return Number((seconds / 60).toFixed(1));
}

export function joinRuns({ machine, options, seed, parts, runs }: Runs): Joined {
  const rows = parts.flatMap((id) => {
    const results = runs.flatMap((run) => run.rows.filter((row) => row.id === id));
    return results.length === 0 ? [] : [joinRow(results)];
  });
  const growth = bySize(runs.flatMap((run) => run.growth ?? []));
  const disk = [
    ...Map.groupBy(
      runs.flatMap((run) => run.disk ?? []),
      ({ what, connections }) => `${what} ${connections}`,
    ).values(),
  ];
  return {
    machine,
    options,
    seed,
    runs: runs.map((run) => ({
      measured_at: run.measured_at,
      took_minutes: minutesOf(run),
      whole: isWhole(run, parts),
      ...(run.othersCores === undefined
        ? {}
        : { othersCores: Math.max(...Object.values(run.othersCores)) }),
    })),
    measured_at: runs.at(-1)?.measured_at,
    rows,
    ...(growth.length === 0 ? {} : {
      growth: growth.map(medianOf),
      growthSpread: growth.map(spreads),
    }),
    ...(disk.length === 0 ? {} : { disk: disk.map(medianOf) }),
  };
}

/** @param results of one row, at least one; what the last one says of itself holds for all */
function joinRow(results: readonly Result[]): JoinedResult {
  const last = results.at(-1)!;
  const measured = results.filter(({ ratio }) => ratio !== undefined);
  if (measured.length === 0) return { ...last, runs: 0 };
  const ratio = middle(measured.map((result) => result.ratio!));
  const { id, title, unit, target, rounds, cpuTargets } = measured.at(-1)!;
  const details = (side: "oursDetail" | "referenceDetail") =>
    measured.map((result) => result[side]).filter((detail) => detail !== undefined);
  const oursDetail = medianDetail(details("oursDetail"));
  const spread = rowSpread(measured);
  const leftOut = results.findLast(({ ratio }) => ratio === undefined)?.notMeasured;
  const note = [
    measured.at(-1)!.note,
    leftOut && `from ${measured.length} of ${results.length} runs: ${leftOut} in the rest`,
  ].filter((text) => text !== undefined).join("; ");
  return {
    id,
    title,
    unit,
    rounds,
    runs: measured.length,
    ours: middle(measured.map((result) => result.ours!)),
    reference: middle(measured.map((result) => result.reference!)),
    ratio,
    ...(target === undefined ? {} : {
      target,
      met: meets(ratio, target),
      metIn: measured.filter((result) => result.met).length,
    }),
    ...(cpuTargets === undefined ? {} : {
      cpuTargets: cpuTargets.map(({ thread, targetUs }) => {
        const us = oursDetail!.cpuUs![thread];
        const metIn = measured.filter(({ oursDetail }) =>
          oursDetail!.cpuUs![thread] <= targetUs
        ).length;
        return { thread, us, targetUs, met: us <= targetUs, metIn };
      }),
    }),
    oursDetail,
    referenceDetail: medianDetail(details("referenceDetail")),
    ...(spread === undefined ? {} : { spread }),
    ...(note === "" ? {} : { note }),
  };
}

function rowSpread(results: readonly Result[]): RowSpread | undefined {
  const of = (read: (result: Result) => number) => spreadOf(results.map(read));
  const ratio = of((result) => result.ratio!);
  if (ratio === undefined) return undefined;
  const hasCpu = results.every(({ oursDetail }) => oursDetail?.cpuUs !== undefined);
  const cpu = (thread: keyof ThreadCpu) => of(({ oursDetail }) => oursDetail!.cpuUs![thread])!;
  return {
    ours: of((result) => result.ours!)!,
    reference: of((result) => result.reference!)!,
    ratio,
    ...(hasCpu
      ? { cpuUs: { main: cpu("main"), store: cpu("store"), workers: cpu("workers") } }
      : {}),
  };
}

/** The points of each size, in the order in which sizes were measured. */
function bySize(points: readonly GrowthPoint[]): GrowthPoint[][] {
  return [...Map.groupBy(points, growthPartId).values()];
}

/** The median of each figure; where there is none, as the last one has it. */
function medianOf<T extends object>(all: readonly T[]): T {
  const entries = Object.entries(all.at(-1)!).map(([name, value]) => {
    const values = figuresOf(all, name);
    return [name, values.length === 0 ? value : middle(values)];
  });
  return Object.fromEntries(entries);
}

function spreads(all: GrowthPoint[]): GrowthSpread {
  const entries = Object.keys(all.at(-1)!).map((name) => [name, spreadOf(figuresOf(all, name))]);
  return Object.fromEntries(entries.filter(([, spread]) => spread !== undefined));
}

function figuresOf(all: readonly object[], name: string): number[] {
  return all.map((one) => (one as Record<string, unknown>)[name])
    .filter((value) => typeof value === "number");
}

function middle(values: readonly number[]): number {
  return values.length === 1 ? values[0]! : fourDigits(median(values));
}
