import assert from "node:assert/strict";
import { joinRuns } from "./join_runs.ts";
import { growthCharts, pageText } from "./page_text.ts";
import { samplePoint, sampleRun, sampleRuns } from "./sample_runs.ts";
import { tableText } from "./table_text.ts";
import { missedInSilence, replaceSection } from "./write_page.ts";

const once = joinRuns(sampleRuns(sampleRun([90, 100, 140], 280.4)));
const thrice = joinRuns(
  sampleRuns(sampleRun([100], 150), sampleRun([60], 260), sampleRun([88], 205)),
);
const large = { ...samplePoint(100_000, 3_500), messages: 1_000_000, searchedMiB: 511 };

Deno.test("pageText() shows rate, CPU by thread, missed targets and what was not measured", () => {
  const text = pageText(once);
  assert.match(text, /\| `sends` \| sends \| 100 \| 40\.0 \| \/s \| 2\.50 \| at least 2 \| met \|/);
  assert.match(text, /CPU of the main thread \| 280 \|.* at most 210 \| missed \|/);
  assert.match(
    text,
    /\| `sends` \| ours \| 1\.00 \| 9\.00 \| 280 \| 120 \| 3\.00 \| 95 % \(!\) \|/,
  );
  assert.match(text, /\| `peer` \| sends \| not measured \|/);
  assert.match(text, /- `peer`: not measured: there is no peer/);
  assert.ok(!text.includes("## Disk"));
});

Deno.test("pageText() begins with the runs and with what is missed", () => {
  const text = pageText(once);
  assert.match(text, /One whole run, on 2026-11-22, took 1\.9 minutes\./);
  assert.match(
    text,
    /1 of 2 targets are met\. Rows that were not measured: 1\. .*\(#what-bounds-what\)/,
  );
  assert.match(
    text,
    /- `sends`: the main thread takes 280 µs a request, where at most 210 is wanted: missed/,
  );
});

Deno.test("pageText() of several runs shows the spread of ratios and of CPU times", () => {
  const text = pageText(thrice);
  assert.match(text, /was run 3 times, last on 2026-11-22; the runs took 1\.9, 1\.9, 1\.9 minutes/);
  assert.match(text, /\| 2\.20 \| 1\.50 to 2\.50 \| at least 2 \| met; met in 2 of 3 runs \|/);
  assert.match(text, /\| 150 to 260 \| at most 210 \| met; met in 2 of 3 runs \|/);
  assert.match(text, /\| 205 \(150 to 260\) \| 120 \(120 to 120\) \|/);
});

Deno.test("pageText() tells of a run that was cut off", () => {
  const part = { ...sampleRun([100], 150), seconds: { sends: 40 } };
  assert.match(pageText(joinRuns(sampleRuns(part))), /on 2026-11-22 was cut off before its end/);
  const both = joinRuns(sampleRuns(sampleRun([90], 150), part));
  assert.match(pageText(both), /One whole run.*Another one was cut off; its rows count\./);
});

Deno.test("pageText() judges growth by the store of 100,000 agents and 1,000,000 messages", () => {
  const run = { ...sampleRun([100], 150), growth: [samplePoint(1_000, 300), large] };
  const text = pageText(joinRuns(sampleRuns(run)));
  assert.match(text, /\| `memory-1m` \|.*\| 511 \| MiB \| 512 \| met \|/);
  assert.match(text, /\| `start-1m` \|.*\| 3,500 \| ms \| 3,000 \| missed \|/);
  assert.match(
    text,
    /- `start-1m`: start with that store: 3,500 ms, where at most 3,000 is wanted/,
  );
});

Deno.test("pageText() shows what works cost the disk, and judges mail that comes in", () => {
  const mail = { what: "mail in" as const, connections: 64, keptBytes: 9_000, syncs: 1.5 };
  const of = (writtenBytes: number) =>
    pageText(joinRuns(sampleRuns({
      ...sampleRun([100], 150),
      disk: [{ ...mail, writtenBytes, rowsWritten: 18.2, rowsKept: 13 }],
    })));
  assert.match(of(256_000), /\| mail in \| 64 \| 256,000 \| 9,000 \| 18\.2 \| 13\.0 \| 1\.5 \|/);
  assert.match(
    of(256_000),
    /- `disk-mail-in`: .* 256,000 bytes, where at most 120,000 is wanted: missed/,
  );
  assert.ok(!of(120_000).includes("`disk-mail-in`"));
});

Deno.test("pageText() and growthCharts() know a first search that was given up", () => {
  const growth = [samplePoint(1_000, 300), { ...samplePoint(1_000_000, 900), firstSearchMs: null }];
  const results = joinRuns(sampleRuns({ ...sampleRun([100], 150), growth }));
  assert.match(pageText(results), /\| over 30,000 \|/);
  const points = growthCharts(results).map(({ title, points }) => [title, points.length]);
  assert.deepEqual(points.slice(1, 4), [
    ["memory when warm, MiB", 2],
    ["first search, ms", 1],
    ["sends/s", 2],
  ]);
});

Deno.test("tableText() aligns the columns and has a line for each CPU target", () => {
  const lines = tableText(once.rows).split("\n");
  assert.equal(lines.length, 4);
  assert.equal(lines[0]!.indexOf("target"), lines[1]!.indexOf("at least 2"));
  assert.match(lines[2]!, /CPU, main thread .*missed/);
});

Deno.test("replaceSection() replaces what stands between the marks and nothing else", () => {
  const begin = "<!-- measured: begin -->";
  const end = "<!-- measured: end -->";
  const page = `# Page\n\n${begin}\nold\n${end}\n\nafter\n`;
  const replaced = replaceSection(page, "new");
  assert.equal(replaced, `# Page\n\n${begin}\n\nnew\n\n${end}\n\nafter\n`);
  assert.equal(replaceSection(replaced, "new"), replaced);
  assert.throws(() => replaceSection("# Page\n", "new"), /no section/);
});

Deno.test("missedInSilence() names missed rows of which the page's own words say nothing", () => {
  const page = "`sends` misses\n<!-- measured: end -->\n\n## What bounds what\n";
  assert.deepEqual(missedInSilence(page, once), ["sends"]);
  assert.deepEqual(missedInSilence(`${page}\n\`sends\`: the store.\n`, once), []);
  assert.deepEqual(missedInSilence(page, thrice), []);
});
