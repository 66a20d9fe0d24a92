/**
 * `deno task bench [--only ROW] [--rounds N] [--seed N]` measures every performance claim. A figure
 * is the median of the ratios of interleaved rounds. There are five rounds, unless the row or
 * --rounds says otherwise. Writes bench/results/latest.json.
 */
import { parseArgs } from "node:util";
import { cpus, totalmem } from "node:os";
import type { Context, Row } from "./row.ts";
import { rows } from "./rows/mod.ts";

const DEFAULT_ROUNDS = 5;
const folder = new URL("./", import.meta.url);
const resultsFile = new URL("results/latest.json", folder);

interface Result {
  id: string;
  title: string;
  ours: number;
  reference: number;
  /** Median of the ratios of the rounds. */
  ratio: number;
  unit: string;
  rounds: number;
  target: string;
  met: boolean;
  note?: string;
}

interface Results {
  machine: Record<string, string | number>;
  seed: number;
  rows: Result[];
}

const { values: options } = parseArgs({
  args: Deno.args,
  options: { only: { type: "string" }, rounds: { type: "string" }, seed: { type: "string" } },
});

const before = await readResults();
const seed = Number(options.seed ?? before?.seed ?? 1);
const chosen = rows.filter(({ id }) => options.only === undefined || id === options.only);
if (chosen.length === 0) {
  console.error(`no row "${options.only}"; rows are: ${rows.map(({ id }) => id).join(", ")}`);
  Deno.exit(2);
}

const results: Result[] = [];
for (const [i, row] of chosen.entries()) {
  console.log(`\n[${i + 1}/${chosen.length}] ${row.id}: ${row.title}`);
  results.push(await measure(row));
}
printTable(results);
await writeResults(results);

async function measure(row: Row): Promise<Result> {
  const temporaryFolder = await Deno.makeTempDir({ prefix: "relay-bench-" });
  const keptFolder = new URL(".data/", folder).pathname;
  await Deno.mkdir(keptFolder, { recursive: true });
  const context: Context = {
    random: seededRandom(seed),
    temporaryFolder,
    keptFolder,
    progress: (text) => console.log(`    ${text}`),
  };
  const rounds = Number(options.rounds ?? row.rounds ?? DEFAULT_ROUNDS);
  const pair = await row.prepare(context);
  try {
    if (row.warmUp !== false) { // a first round of each warms caches and compilers, uncounted
      await pair.ours();
      await pair.reference();
    }
    const ours: number[] = [];
    const reference: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      // Every other round begins with the other side, so that each side goes first as often.
      for (const side of round % 2 === 1 ? ["ours", "reference"] : ["reference", "ours"]) {
        if (side === "ours") ours.push(await pair.ours());
        else reference.push(await pair.reference());
      }
      const ratio = ours.at(-1)! / reference.at(-1)!;
      context.progress(
        `round ${round}/${rounds}: ${figure(ours.at(-1)!)} against ${figure(reference.at(-1)!)} ` +
          `${row.unit}, ratio ${ratio.toFixed(2)}`,
      );
    }
    const ratio = median(ours.map((rate, i) => rate / reference[i]!));
    const { rule, ratio: wanted } = row.target;
    return {
      id: row.id,
      title: row.title,
      ours: fourDigits(median(ours)),
      reference: fourDigits(median(reference)),
      ratio: fourDigits(ratio),
      unit: row.unit,
      rounds,
      target: `${rule} ${wanted}`,
      met: rule === "at least" ? ratio >= wanted : ratio <= wanted,
      ...(pair.note === undefined ? {} : { note: pair.note() }),
    };
  } finally {
    await pair.close();
    await Deno.remove(temporaryFolder, { recursive: true });
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function fourDigits(value: number): number {
  return Number(value.toPrecision(4));
}

function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

/** Numbers in 0..1 from a 32-bit seed (mulberry32). */
function seededRandom(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function printTable(measured: readonly Result[]): void {
  const header = ["row", "ours", "reference", "unit", "ratio", "target", ""];
  const lines = measured.map((result) => [
    result.id,
    figure(result.ours),
    figure(result.reference),
    result.unit,
    result.ratio.toFixed(2),
    result.target,
    result.met ? "met" : "missed",
  ]);
  const widths = header.map((_, i) =>
    Math.max(...[header, ...lines].map((line) => line[i]!.length))
  );
  console.log();
  for (const line of [header, ...lines]) {
    console.log(line.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd());
  }
}

async function readResults(): Promise<Results | undefined> {
  try {
    return JSON.parse(await Deno.readTextFile(resultsFile));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Rows that were not measured this time keep their last figures. */
async function writeResults(measured: Result[]): Promise<void> {
  const kept = (before?.rows ?? []).filter(({ id }) =>
    rows.some((row) => row.id === id) && !measured.some((result) => result.id === id)
  );
  const order = rows.map(({ id }) => id);
  const all = [...kept, ...measured].toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  const written: Results = {
    machine: {
      cpu: cpus()[0]?.model.trim() ?? "unknown",
      cores: cpus().length,
      memory_gib: Math.round(totalmem() / 2 ** 30),
      os: Deno.build.os,
      deno: Deno.version.deno,
    },
    seed,
    rows: all,
  };
  await Deno.mkdir(new URL("./", resultsFile), { recursive: true });
  await Deno.writeTextFile(resultsFile, JSON.stringify(written, null, 2) + "\n");
  console.log(`\nwritten to bench/results/latest.json`);
}
