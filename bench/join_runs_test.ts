import assert from "node:assert/strict";
import { isWhole, joinRuns } from "./join_runs.ts";
import { resultOf } from "./result.ts";
import { samplePoint, sampleRow, sampleRun, sampleRuns } from "./sample_runs.ts";

const [fast, slow, middle] = [
  sampleRun([100, 100, 100], 150),
  sampleRun([60, 60, 60], 260),
  sampleRun([88, 88, 88], 205),
];

Deno.test("resultOf() takes the median of the ratios of rounds, not the ratio of medians", () => {
  const cpuUs = { main: 280.4, store: 120, workers: 3 };
  const result = resultOf(
    sampleRow,
    [90, 100, 140].map((value) => ({ value, cpuUs })),
    [{ value: 50 }, { value: 40 }, { value: 40 }],
  );
  assert.equal(result.ratio, 2.5);
  assert.equal(result.ours, 100);
  assert.equal(result.met, true);
  assert.deepEqual(result.cpuTargets, [{ thread: "main", us: 280.4, targetUs: 210, met: false }]);
});

Deno.test("joinRuns() gives the medians of the runs, with the lowest and the highest", () => {
  const [row] = joinRuns(sampleRuns(fast, slow, middle)).rows;
  assert.equal(row!.ratio, 2.2);
  assert.deepEqual(row!.spread!.ratio, { lowest: 1.5, highest: 2.5 });
  assert.deepEqual(row!.spread!.ours, { lowest: 60, highest: 100 });
  assert.deepEqual(row!.spread!.cpuUs!.main, { lowest: 150, highest: 260 });
  assert.equal(row!.oursDetail!.cpuUs!.main, 205);
  assert.deepEqual([row!.runs, row!.met, row!.metIn], [3, true, 2]);
  assert.deepEqual(row!.cpuTargets, [
    { thread: "main", us: 205, targetUs: 210, met: true, metIn: 2 },
  ]);
});

Deno.test("joinRuns() judges the median by the target, not the runs by their number", () => {
  const [row] = joinRuns(sampleRuns(fast, slow)).rows;
  assert.equal(row!.ratio, 2);
  assert.equal(row!.met, true);
  assert.equal(row!.metIn, 1);
});

Deno.test("joinRuns() of one run has its figures and no spread", () => {
  const { rows, growthSpread } = joinRuns(sampleRuns(fast));
  assert.equal(rows[0]!.ratio, fast.rows[0]!.ratio);
  assert.equal(rows[0]!.spread, undefined);
  assert.deepEqual(growthSpread, [{}]);
});

Deno.test("joinRuns() takes a row from the runs that measured it", () => {
  const cutOff = { ...middle, seconds: { sends: 40 }, rows: [], growth: undefined };
  const { rows, runs } = joinRuns(sampleRuns(fast, slow, cutOff));
  assert.deepEqual(rows.map(({ id, runs }) => [id, runs]), [["sends", 2], ["peer", 0]]);
  assert.equal(rows[1]!.notMeasured, "there is no peer");
  assert.deepEqual(runs.map(({ whole, took_minutes }) => [whole, took_minutes]), [
    [true, 1.9],
    [true, 1.9],
    [false, 0.7],
  ]);
});

Deno.test("joinRuns() joins growth point by point, and a search that one run gave up", () => {
  const point = (startMs: number, firstSearchMs: number | null) => ({
    ...middle,
    growth: [{ ...samplePoint(1_000, startMs), firstSearchMs }],
  });
  const { growth, growthSpread } = joinRuns(sampleRuns(point(300, 20), point(500, null)));
  assert.equal(growth![0]!.startMs, 400);
  assert.equal(growth![0]!.agents, 1_000);
  assert.equal(growth![0]!.firstSearchMs, 20);
  assert.deepEqual(growthSpread![0]!.startMs, { lowest: 300, highest: 500 });
});

Deno.test("joinRuns() joins what each kind of work costs the disk, of former runs too", () => {
  const cost = { connections: 64, writtenBytes: 40_000, keptBytes: 2_000, syncs: null };
  const mail = (writtenBytes: number) => ({ ...cost, what: "mail in" as const, writtenBytes });
  const former = { ...fast, disk: [cost] };
  const { disk } = joinRuns(
    sampleRuns(former, { ...slow, disk: [mail(100), mail(300)] }, { ...middle, disk: [mail(200)] }),
  );
  assert.deepEqual(disk, [cost, mail(200)]);
});

Deno.test("isWhole() is true of a run with all parts", () => {
  assert.ok(isWhole(fast, ["sends", "growth"]));
  assert.ok(!isWhole(fast, ["sends", "disk"]));
});

Deno.test("joinRuns() keeps the points of growth that a run which was cut off lacks", () => {
  const both = { ...fast, growth: [samplePoint(1_000, 300), samplePoint(100_000, 700)] };
  const cutOff = { ...slow, growth: [samplePoint(1_000, 500)] };
  const { growth } = joinRuns(sampleRuns(both, cutOff));
  assert.deepEqual(growth!.map(({ agents, startMs }) => [agents, startMs]), [
    [1_000, 400],
    [100_000, 700],
  ]);
});
