/**
 * `deno task bench`: every performance claim, each as the median of the ratios of interleaved
 * rounds; writes bench/results/latest.json after each row, and docs/performance.md after each run.
 *
 * --times N         runs the whole table N times: the page shows medians and spread of the runs
 * --continue        keeps the runs of the results file, completes one that was cut off, and goes on
 *                   until there are N
 * --only ROW[,ROW]  these rows alone, "stores", "growth" and "disk" among them; writes
 *                   bench/results/only.json and leaves the page as it is
 * --quick           fewer rounds and requests, without the rows that take minutes; writes
 *                   bench/results/quick.json
 * --steady          the steady state is reached by seven minutes of load, not by moving the clock
 * --rounds N, --seed N
 * --page            writes the page from the last results, without measuring
 */
import { cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { measureDiskCost } from "./disk_cost.ts";
import { measureGrowth, QUICK_SIZES, SIZES } from "./growth.ts";
import { type Joined, joinRuns } from "./join_runs.ts";
import { keepStores } from "./keep_stores.ts";
import { readMachineLoad } from "./machine_load.ts";
import { measureRow } from "./measure_row.ts";
import { growthPartId, notMeasured, type Result, type Runs } from "./result.ts";
import { quietRuns } from "./quiet_runs.ts";
import { cannotJoin, readRuns, writeRuns } from "./results_file.ts";
import type { Context, Row } from "./row.ts";
import { rows } from "./rows/mod.ts";
import { type Part, runParts } from "./run_parts.ts";
import { seededRandom } from "./seeded_random.ts";
import { tableText } from "./table_text.ts";
import { writePage } from "./write_page.ts";

const QUICK_ROUNDS = 2;
const QUICK_SHARE = 0.25;
const folder = new URL("./", import.meta.url);

const { values: options } = parseArgs({
  args: Deno.args,
  options: {
    times: { type: "string", default: "1" },
    continue: { type: "boolean", default: false },
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    steady: { type: "boolean", default: false },
    rounds: { type: "string" },
    seed: { type: "string", default: "1" },
    page: { type: "boolean", default: false },
  },
});
const times = wholeNumber("times", options.times);
const seed = wholeNumber("seed", options.seed);
const rounds = options.rounds === undefined
  ? (options.quick ? QUICK_ROUNDS : undefined)
  : wholeNumber("rounds", options.rounds);

const wanted = options.only?.split(",");
const sizes = options.quick ? QUICK_SIZES : SIZES;
const rowsWithStores = wanted === undefined ? rows.filter(isMeasured) : rows;
const all: Part[] = [
  {
    id: "stores",
    title: "stores of many agents and messages, and the peers, all of which are kept",
    measure: () =>
      inContext((context) =>
        keepStores({ context, seed, rows: rowsWithStores, growthSizes: sizes })
      ),
  },
  ...rows.map((row): Part => ({
    id: row.id,
    title: row.title,
    measure: async (run) => void run.rows.push(await resultOfRow(row)),
  })),
  ...sizes.map((size): Part => ({
    id: growthPartId(size),
    group: "growth",
    title: `a relay on a store of ${
      [size.agents, size.messages].map((count) => count.toLocaleString("en")).join(" agents and ")
    } messages`,
    async measure(run) {
      const point = await inContext((context) => measureGrowth(size, context));
      run.growth = [...run.growth ?? [], point];
    },
  })),
  {
    id: "disk",
    title: "what a stored message, a mail in and a mail out cost the disk",
    measure: async (run) => void (run.disk = await inContext(measureDiskCost)),
  },
];
const names = new Set(all.map(({ id, group }) => group ?? id));
const unknown = wanted?.filter((id) => !names.has(id)) ?? [];
if (unknown.length > 0) {
  stop(`no row "${unknown.join('", "')}"; rows are: ${[...names].join(", ")}`);
}
const parts = all.filter(({ id, group }) => wanted === undefined || wanted.includes(group ?? id));

// Figures of fewer requests, or of rows alone, are no claims: they do not replace those of whole runs.
const fileName = wanted !== undefined ? "only" : options.quick ? "quick" : "latest";
const isClaim = fileName === "latest";
const resultsFile = new URL(`results/${fileName}.json`, folder);
const before = await readRuns(resultsFile);
if (options.page) {
  if (before === undefined) stop("nothing has been measured yet");
  await writePage(toldOf(before));
  Deno.exit(0);
}
const now: Omit<Runs, "runs"> = {
  machine: {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    os: Deno.build.os,
    deno: Deno.version.deno,
  },
  options: [
    ...(options.quick ? ["--quick"] : []),
    ...(options.steady ? ["--steady"] : []),
    ...(options.rounds === undefined ? [] : [`--rounds ${rounds}`]),
  ].join(" "),
  seed,
  parts: parts.map(({ id }) => id),
};
const goesOn = options.continue && before !== undefined;
if (goesOn) {
  const reason = cannotJoin(before, now);
  if (reason !== null) stop(`bench/results/${fileName}.json cannot be continued: ${reason}`);
}

const beganMs = Date.now();
const runs: Runs = { ...now, runs: goesOn ? before.runs : [] };
await runParts(runs, {
  parts,
  times,
  knownSeconds: new Map(before?.runs.flatMap(({ seconds }) => Object.entries(seconds))),
  save: (runs) => writeRuns(resultsFile, runs, toldOf(runs)),
  async afterRun(runs) {
    const joined = toldOf(runs);
    console.log(`\n${tableText(joined.rows)}\n\nwritten to bench/results/${fileName}.json`);
    if (isClaim) await writePage(joined);
  },
  tell: console.log,
  readLoad: readMachineLoad,
  nowMs: Date.now,
});
console.log(
  `\n${minutes(Date.now() - beganMs)} minutes; runs: ${
    joinRuns(runs).runs.map(({ took_minutes }) => `${took_minutes} min`).join(", ")
  }`,
);

/** What runs come to: of a whole table what was quiet, else all, whose lines say what was not. */
function toldOf(runs: Runs): Joined {
  return joinRuns(isClaim ? quietRuns(runs) : runs);
}

function isMeasured({ id, slow }: Row): boolean {
  return wanted === undefined ? !(options.quick && slow) : wanted.includes(id);
}

async function resultOfRow(row: Row): Promise<Result> {
  if (!isMeasured(row)) return notMeasured(row, "left out by --quick");
  return await inContext((context) => measureRow(row, { context, rounds }));
}

/** Runs something in a temporary folder of its own. */
async function inContext<T>(run: (context: Context) => Promise<T>): Promise<T> {
  const temporaryFolder = await Deno.makeTempDir({ prefix: "relay-bench-" });
  const keptFolder = new URL(".data/", folder).pathname;
  await Deno.mkdir(keptFolder, { recursive: true });
  try {
    return await run({
      random: seededRandom(seed),
      temporaryFolder,
      keptFolder,
      count: (usual) => options.quick ? Math.ceil(usual * QUICK_SHARE) : usual,
      installs: !options.quick,
      steady: options.steady,
      progress: (text) => console.log(`    ${text}`),
    });
  } finally {
    await Deno.remove(temporaryFolder, { recursive: true });
  }
}

function minutes(ms: number): string {
  return (ms / 60_000).toFixed(1);
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) stop(`--${name} takes a number from 1 on`);
  return number;
}

function stop(message: string): never {
  console.error(message);
  Deno.exit(2);
}
