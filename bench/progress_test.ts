import assert from "node:assert/strict";
import { expectedSeconds, progressText } from "./progress.ts";

Deno.test("expectedSeconds() takes what a part took last, and the mean for an unknown one", () => {
  const known = new Map([["a", 10], ["b", 30]]);
  assert.equal(expectedSeconds(["a", "b", "a"], known), 50);
  assert.equal(expectedSeconds(["a", "new"], known), 30);
  assert.equal(expectedSeconds([], known), 0);
  assert.equal(expectedSeconds(["a"], new Map()), undefined);
});

Deno.test("progressText() tells the end on the local clock", () => {
  const nowMs = new Date(2026, 10, 22, 13, 58).getTime();
  const at = { run: 1, runs: 1, part: 5, parts: 40, passedMs: 90_000, nowMs };
  assert.equal(progressText({ ...at, leftSeconds: 600 }), "5/40, 1.5 min, end about 14:08");
  assert.equal(progressText({ ...at, leftSeconds: undefined, runs: 3 }), "run 1/3, 5/40, 1.5 min");
});
