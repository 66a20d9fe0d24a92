/** Results that tests of the page and of the joined table read. */
import type { GrowthPoint } from "./growth.ts";
import { notMeasured, resultOf, type Run, type Runs } from "./result.ts";
import type { Round, Row } from "./row.ts";

export const sampleRow: Row = {
  id: "sends",
  title: "sends",
  unit: "/s",
  target: { rule: "at least", ratio: 2 },
  cpuTargetUs: { main: 210 },
  prepare: () => Promise.reject(new Error("not prepared here")),
};

export function samplePoint(size: number, startMs: number): GrowthPoint {
  return {
    agents: size,
    messages: size,
    fileMiB: 1.5,
    startMs,
    startMiB: 100,
    sendsPerSecond: 3_000,
    sendP99Ms: 90,
    pollsPerSecond: 12_000,
    pollP99Ms: 12,
    warmMiB: 180,
    firstSearchMs: 20,
    searchedMiB: 200,
  };
}

/** A run whose rounds of `sends` have these rates against 40 a second. */
export function sampleRun(rates: readonly number[], mainUs: number): Run {
  const cpuUs = { main: mainUs, store: 120, workers: 3 };
  const ours = rates.map((value): Round => ({
    value,
    p50Ms: 1,
    p99Ms: 9,
    cpuUs,
    generatorShare: 0.95,
  }));
  return {
    measured_at: "2026-11-22",
    seconds: { sends: 42.5, peer: 0.5, growth: 71 },
    rows: [
      resultOf(sampleRow, ours, rates.map(() => ({ value: 40 }))),
      notMeasured({ ...sampleRow, id: "peer" }, "there is no peer"),
    ],
    growth: [samplePoint(1_000, 300)],
  };
}

export function sampleRuns(...runs: Run[]): Runs {
  return {
    machine: { cpu: "Some CPU", cores: 2, memory_gib: 24, os: "linux", deno: "2.9.6" },
    options: "",
    seed: 1,
    parts: ["sends", "peer", "growth"],
    runs,
  };
}
