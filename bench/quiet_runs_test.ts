import assert from "node:assert/strict";
import { joinRuns } from "./join_runs.ts";
import { pageText } from "./page_text.ts";
import { quietRuns } from "./quiet_runs.ts";
import { sampleRun, sampleRuns } from "./sample_runs.ts";

const quiet = { ...sampleRun([90, 90, 90], 150), othersCores: { sends: 0.1, peer: 0 } };
const noisy = {
  ...sampleRun([60, 60, 60], 260),
  othersCores: { sends: 0.62, "growth-1000-1000": 1.2 },
};
const unknown = sampleRun([80, 80, 80], 200);

Deno.test("quietRuns() takes a row's figures from the runs in which others left the machine alone", () => {
  const { rows, growth } = joinRuns(quietRuns(sampleRuns(quiet, noisy)));
  assert.equal(rows[0]!.ratio, 2.25);
  assert.deepEqual([rows[0]!.runs, rows[0]!.met, rows[0]!.spread], [1, true, undefined]);
  assert.equal(
    rows[0]!.note,
    "from 1 of 2 runs: other programs kept 0.62 cores busy in the rest",
  );
  assert.deepEqual(growth, quiet.growth);
});

Deno.test("quietRuns() leaves no figures of a row that was never quiet, and keeps unrecorded ones", () => {
  const [row] = joinRuns(quietRuns(sampleRuns(noisy))).rows;
  assert.equal(row!.ratio, undefined);
  assert.equal(row!.notMeasured, "other programs kept 0.62 cores busy");
  assert.equal(joinRuns(quietRuns(sampleRuns(unknown))).rows[0]!.ratio, 2);
});

Deno.test("pageText() tells how busy others kept the machine, run by run", () => {
  const text = pageText(joinRuns(quietRuns(sampleRuns(quiet, noisy, unknown))));
  assert.match(
    text,
    /kept busy, at most: 0\.10, 1\.20, not recorded; .* more than 0\.1 is left out/,
  );
  assert.match(
    text,
    /- `sends`: from 2 of 3 runs: other programs kept 0\.62 cores busy in the rest/,
  );
  const former = pageText(joinRuns(quietRuns(sampleRuns(unknown))));
  assert.match(former, /How busy other programs kept the machine was not recorded\./);
});
