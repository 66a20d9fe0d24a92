import assert from "node:assert/strict";
import { pageText } from "./page_text.ts";
import { notMeasured, resultOf, type Results } from "./result.ts";
import type { Row } from "./row.ts";
import { tableText } from "./table_text.ts";
import { replaceSection } from "./write_page.ts";

const row: Row = {
  id: "sends",
  title: "sends",
  unit: "/s",
  target: { rule: "at least", ratio: 2 },
  cpuTargetUs: { main: 210 },
  prepare: () => Promise.reject(new Error("not prepared here")),
};
const cpuUs = { main: 280.4, store: 120, workers: 3 };
const results: Results = {
  machine: { cpu: "Some CPU", cores: 2, memory_gib: 24, os: "linux", deno: "2.9.6" },
  seed: 1,
  rows: [
    resultOf(
      row,
      [90, 100, 140].map((value) => ({ value, p50Ms: 1, p99Ms: 9, cpuUs, generatorShare: 0.95 })),
      [{ value: 50 }, { value: 40 }, { value: 40 }],
    ),
    notMeasured({ ...row, id: "peer" }, "there is no peer"),
  ],
};

Deno.test("resultOf() takes the median of the ratios of rounds, not the ratio of medians", () => {
  const [first] = results.rows;
  assert.equal(first!.ratio, 2.5);
  assert.equal(first!.ours, 100);
  assert.equal(first!.met, true);
  assert.deepEqual(first!.cpuTargets, [{ thread: "main", us: 280.4, targetUs: 210, met: false }]);
});

Deno.test("pageText() shows rate, CPU by thread, missed targets and what was not measured", () => {
  const text = pageText(results);
  assert.match(text, /\| `sends` \| sends \| 100 \| 40\.0 \| \/s \| 2\.50 \| at least 2 \| met \|/);
  assert.match(text, /CPU of the main thread \| 280 \|.* at most 210 \| missed \|/);
  assert.match(
    text,
    /\| `sends` \| ours \| 1\.00 \| 9\.00 \| 280 \| 120 \| 3\.00 \| 95 % \(!\) \|/,
  );
  assert.match(text, /\| `peer` \| sends \| not measured \|/);
  assert.match(text, /- `peer`: not measured: there is no peer/);
  assert.ok(!text.includes("## Growth"));
});

Deno.test("tableText() aligns the columns and has a line for each CPU target", () => {
  const lines = tableText(results.rows).split("\n");
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
