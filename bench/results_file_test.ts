import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { joinRuns } from "./join_runs.ts";
import { cannotJoin, readRuns, writeRuns } from "./results_file.ts";
import { sampleRun, sampleRuns } from "./sample_runs.ts";

const runs = sampleRuns(sampleRun([100], 200), sampleRun([90], 220));

async function inFolder(test: (path: URL) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(pathToFileURL(join(folder, "results", "latest.json")));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("readRuns() reads what writeRuns() wrote, and the file tells the medians, too", () =>
  inFolder(async (path) => {
    assert.equal(await readRuns(path), undefined);
    await writeRuns(path, runs, joinRuns(runs));
    assert.deepEqual(await readRuns(path), JSON.parse(JSON.stringify(runs)));
    const { rows, summary, measured_at } = JSON.parse(await Deno.readTextFile(path));
    assert.equal(rows[0].ratio, 2.375);
    assert.deepEqual(rows[0].spread.ratio, { lowest: 2.25, highest: 2.5 });
    assert.equal(summary.length, 2);
    assert.equal(measured_at, "2026-11-22");
    const files = await Array.fromAsync(Deno.readDir(new URL("./", path)), ({ name }) => name);
    assert.deepEqual(files, ["latest.json"]);
  }));

Deno.test("readRuns() takes a file without runs for none", () =>
  inFolder(async (path) => {
    await Deno.mkdir(new URL("./", path));
    await Deno.writeTextFile(path, JSON.stringify({ machine: runs.machine, rows: [] }));
    assert.equal(await readRuns(path), undefined);
  }));

Deno.test("cannotJoin() tells what differs of machine, options, seed and parts", () => {
  assert.equal(cannotJoin(runs, sampleRuns()), null);
  assert.match(cannotJoin(runs, { ...runs, options: "--steady" })!, /its options differ/);
  assert.match(cannotJoin(runs, { ...runs, parts: ["sends"] })!, /its parts differ/);
  const machine = { ...runs.machine, cores: 4 };
  assert.match(cannotJoin(runs, { ...runs, machine })!, /its machine differ.*"cores":4/);
});
