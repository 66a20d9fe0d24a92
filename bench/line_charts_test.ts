import assert from "node:assert/strict";
import { lineCharts } from "./line_charts.ts";

const points = [{ x: 1_000, y: 40 }, { x: 10_000, y: 100 }, { x: 100_000, y: 0 }];

Deno.test("lineCharts() places the points by the logarithm of x and from 0 up", () => {
  const svg = lineCharts([{ title: "memory, MiB", points }], 2);
  const path = /points="([^"]+)"/.exec(svg)![1]!.split(" ").map((pair) =>
    pair.split(",").map(Number)
  );
  const [[x1, y1], [x2, y2], [x3, y3]] = path as [
    [number, number],
    [number, number],
    [number, number],
  ];
  assert.ok(Math.abs((x2 - x1) - (x3 - x2)) < 0.2, "powers of ten are equally far apart");
  assert.ok(Math.abs((y3 - y1) / (y3 - y2) - 0.4) < 0.01, "40 is at two fifths of 100");
});

Deno.test("lineCharts() escapes titles and gives each chart a place of its own", () => {
  const svg = lineCharts([1, 2, 3].map((i) => ({ title: `${i} < 4`, points })), 2);
  assert.equal(svg.match(/<g /g)!.length, 3);
  assert.match(svg, /viewBox="0 0 460 340"/);
  assert.match(svg, /2 &lt; 4/);
});
