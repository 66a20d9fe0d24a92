/** What a row, and a whole run of the benchmark, came to. */
import type { DiskCost } from "./disk_cost.ts";
import type { GrowthPoint } from "./growth.ts";
import type { Round, Row, StoreSize, Target } from "./row.ts";
import { fourDigits, median } from "./statistics.ts";

/** A row that was measured. */
export interface Result {
  id: string;
  title: string;
  /** Medians of the rounds; absent where the row was not measured. */
  ours?: number;
  reference?: number;
  /** Median of the ratios of the rounds. */
  ratio?: number;
  unit: string;
  rounds?: number;
  target?: Target;
  met?: boolean;
  /** Targets of CPU time, in microseconds a request. */
  cpuTargets?: CpuTarget[];
  oursDetail?: Detail;
  referenceDetail?: Detail;
  note?: string;
  /** Why there are no figures. */
  notMeasured?: string;
}

export interface CpuTarget {
  thread: "main" | "store" | "workers";
  us: number;
  targetUs: number;
  met: boolean;
  /** Of several runs: in how many it was met. */
  metIn?: number;
}

/** Medians of what the rounds of one side told besides their rate. */
export type Detail = Omit<Round, "value">;

export interface Machine {
  cpu: string;
  cores: number;
  memory_gib: number;
  os: string;
  deno: string;
}

/** One pass over the rows, growth and disk; one that was cut off lacks some of them. */
export interface Run {
  /** The day on which its last part was measured. */
  measured_at: string;
  /** What each part took: the parts that are here have been measured. */
  seconds: Record<string, number>;
  /** How many cores other programs kept busy during each part, where the system tells. */
  othersCores?: Record<string, number>;
  rows: Result[];
  growth?: GrowthPoint[];
  disk?: DiskCost[];
}

/** Runs of the same parts on one machine, under the same options. */
export interface Runs {
  machine: Machine;
  /** "--quick" and the like; rows of such a run have fewer requests. */
  options: string;
  seed: number;
  /** The parts of a whole run, in the order of the table. */
  parts: string[];
  runs: Run[];
}

/** The part that measures growth at a size. */
export function growthPartId({ agents, messages }: StoreSize): string {
  return `growth-${agents}-${messages}`;
}

/** Medians of all that the rounds of a side have told. */
export function medianDetail(rounds: readonly Detail[]): Detail | undefined {
  const of = (read: (round: Detail) => number | undefined) => {
    const values = rounds.map(read).filter((value) => value !== undefined);
    return values.length === 0 ? undefined : fourDigits(median(values));
  };
  const cpuUs = rounds.every((round) => round.cpuUs !== undefined)
    ? {
      main: of(({ cpuUs }) => cpuUs!.main)!,
      store: of(({ cpuUs }) => cpuUs!.store)!,
      workers: of(({ cpuUs }) => cpuUs!.workers)!,
    }
    : undefined;
  const detail = {
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    cpuUs,
    generatorShare: of(({ generatorShare }) => generatorShare),
  };
  return Object.values(detail).every((value) => value === undefined) ? undefined : detail;
}

/** What a row came to, from the rounds of both sides. */
export function resultOf(
  row: Row,
  ours: readonly Round[],
  reference: readonly Round[],
  note?: string,
): Result {
  const ratio = median(ours.map(({ value }, i) => value / reference[i]!.value));
  const oursDetail = medianDetail(ours);
  const { target } = row;
  const cpuTargets = (["main", "store", "workers"] as const).flatMap((thread): CpuTarget[] => {
    const targetUs = row.cpuTargetUs?.[thread];
    const us = oursDetail?.cpuUs?.[thread];
    return targetUs === undefined || us === undefined
      ? []
      : [{ thread, us, targetUs, met: us <= targetUs }];
  });
  return {
    id: row.id,
    title: row.title,
    ours: fourDigits(median(ours.map(({ value }) => value))),
    reference: fourDigits(median(reference.map(({ value }) => value))),
    ratio: fourDigits(ratio),
    unit: row.unit,
    rounds: ours.length,
    ...(target === undefined ? {} : { target, met: meets(ratio, target) }),
    ...(cpuTargets.length === 0 ? {} : { cpuTargets }),
    oursDetail,
    referenceDetail: medianDetail(reference),
    ...(note === undefined ? {} : { note }),
  };
}

export function meets(ratio: number, target: Target): boolean {
  return target.rule === "at least" ? ratio >= target.ratio : ratio <= target.ratio;
}

/** The result of a row that could not be measured. */
export function notMeasured({ id, title, unit, target }: Row, reason: string): Result {
  return { id, title, unit, target, notMeasured: reason };
}

/** A figure as people read it. */
export function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

/** A target as people read it; "none" where a row only tells. */
export function targetText(target: Target | undefined): string {
  return target === undefined ? "none" : `${target.rule} ${target.ratio}`;
}
