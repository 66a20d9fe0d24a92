/**
 * `deno task bench`: every performance claim, each as the median of the ratios of interleaved
 * rounds; writes bench/results/latest.json, and with all rows measured docs/performance.md.
 *
 * --only ROW[,ROW]  these rows alone, "growth" and "disk" among them; the page is left as it is
 * --quick           fewer rounds and requests, without the rows that take minutes; writes
 *                   bench/results/quick.json instead
 * --steady          the steady state is reached by seven minutes of load, not by moving the clock
 * --rounds N, --seed N
 * --page            writes the page from the last results, without measuring
 */
import { cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { type DiskCost, measureDiskCost } from "./disk_cost.ts";
import { type GrowthPoint, measureGrowth, type StoreSize } from "./growth.ts";
import { measureRow } from "./measure_row.ts";
import { notMeasured, type Result, type Results } from "./result.ts";
import type { Context } from "./row.ts";
import { rows } from "./rows/mod.ts";
import { seededRandom } from "./seeded_random.ts";
import { tableText } from "./table_text.ts";
import { writePage } from "./write_page.ts";

const QUICK_ROUNDS = 2;
const QUICK_SHARE = 0.25;
const GROWTH = "growth";
const DISK = "disk";
const asMany = (size: number): StoreSize => ({ agents: size, messages: size });
const QUICK_SIZES = [1_000, 100_000].map(asMany);
/** The last one is what a relay holds in 512 MiB; the curves show the others. */
const SIZES = [...[1_000, 100_000, 1_000_000].map(asMany), {
  agents: 100_000,
  messages: 1_000_000,
}];
const folder = new URL("./", import.meta.url);
const latestFile = new URL("results/latest.json", folder);

const { values: options } = parseArgs({
  args: Deno.args,
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    steady: { type: "boolean", default: false },
    rounds: { type: "string" },
    seed: { type: "string" },
    page: { type: "boolean", default: false },
  },
});

// Figures of fewer requests are no claims: they do not replace those of a whole run.
const resultsFile = options.quick ? new URL("results/quick.json", folder) : latestFile;
const before = await readResults();
if (options.page) {
  if (before === undefined) throw new Error("nothing has been measured yet");
  await writePage(before);
  Deno.exit(0);
}
const seed = Number(options.seed ?? before?.seed ?? 1);
const wanted = options.only?.split(",");
const names = [...rows.map(({ id }) => id), GROWTH, DISK];
const unknown = wanted?.filter((id) => !names.includes(id)) ?? [];
if (unknown.length > 0) {
  console.error(`no row "${unknown.join('", "')}"; rows are: ${names.join(", ")}`);
  Deno.exit(2);
}

const beganMs = Date.now();
const chosen = rows.filter(({ id }) => wanted === undefined || wanted.includes(id));
const measured: Result[] = [];
for (const [i, row] of chosen.entries()) {
  console.log(`\n[${i + 1}/${chosen.length}] ${row.id}: ${row.title}`);
  if (options.quick && row.slow && wanted === undefined) {
    measured.push(notMeasured(row, "left out by --quick"));
    continue;
  }
  const rounds = options.rounds ?? (options.quick ? String(QUICK_ROUNDS) : undefined);
  measured.push(
    await inContext((context) =>
      measureRow(row, { context, rounds: rounds === undefined ? undefined : Number(rounds) })
    ),
  );
}
let growth: GrowthPoint[] | undefined;
let disk: DiskCost[] | undefined;
try {
  if (wanted === undefined || wanted.includes(GROWTH)) {
    const sizes = options.quick ? QUICK_SIZES : SIZES;
    console.log(
      `\n${GROWTH}: ${sizes.map(({ agents }) => agents.toLocaleString("en")).join(", ")} agents`,
    );
    growth = await inContext((context) => measureGrowth(sizes, context));
  }
  if (wanted === undefined || wanted.includes(DISK)) {
    console.log(`\n${DISK}: what a stored message costs the disk`);
    disk = await inContext(measureDiskCost);
  }
} finally {
  // What was measured before something failed stays.
  console.log(`\n${tableText(measured)}`);
  await writeResults(merge(measured));
}
if (wanted === undefined && !options.quick) await writePage(merge(measured));
console.log(`\nmeasured in ${((Date.now() - beganMs) / 60_000).toFixed(1)} minutes`);

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
      steady: options.steady,
      progress: (text) => console.log(`    ${text}`),
    });
  } finally {
    await Deno.remove(temporaryFolder, { recursive: true });
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
function merge(measured: readonly Result[]): Results {
  const kept = (before?.rows ?? []).filter(({ id }) =>
    rows.some((row) => row.id === id) && !measured.some((result) => result.id === id)
  );
  const order = rows.map(({ id }) => id);
  const { only: _, ...shown } = options;
  const flags = Object.entries(shown).filter(([, value]) => value !== false);
  const run = {
    measured_at: new Date().toISOString().slice(0, 10),
    took_minutes: Number(((Date.now() - beganMs) / 60_000).toFixed(1)),
    options: flags.map(([name, value]) => value === true ? `--${name}` : `--${name} ${value}`)
      .join(" "),
  };
  const { measured_at, took_minutes, options: lastOptions } = before ?? {};
  const lastRun = { measured_at, took_minutes, options: lastOptions };
  return {
    machine: {
      cpu: cpus()[0]?.model.trim() ?? "unknown",
      cores: cpus().length,
      memory_gib: Math.round(totalmem() / 2 ** 30),
      os: Deno.build.os,
      deno: Deno.version.deno,
    },
    ...(wanted === undefined ? run : lastRun),
    seed,
    rows: [...kept, ...measured].toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id)),
    growth: growth ?? before?.growth,
    disk: disk ?? before?.disk,
  };
}

async function writeResults(results: Results): Promise<void> {
  await Deno.mkdir(new URL("./", resultsFile), { recursive: true });
  await Deno.writeTextFile(resultsFile, JSON.stringify(results, null, 2) + "\n");
  console.log(`\nwritten to bench/results/${resultsFile.pathname.split("/").at(-1)}`);
}
