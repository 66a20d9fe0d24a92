import assert from "node:assert/strict";
import { addTallies, emptyTally, finalLine, tallyOfCheck } from "./tally.ts";

Deno.test("finalLine() is N passed, N failed and nothing else", () => {
  assert.equal(finalLine({ passed: 12, failed: 0, skipped: ["one"] }), "12 passed, 0 failed");
});

Deno.test("tallyOfCheck() counts a check as one", () => {
  assert.deepEqual(tallyOfCheck(true), { passed: 1, failed: 0, skipped: [] });
  assert.deepEqual(tallyOfCheck(false), { passed: 0, failed: 1, skipped: [] });
});

Deno.test("addTallies() sums counts and keeps every skipped name", () => {
  const a = { passed: 1, failed: 2, skipped: ["a"] };
  const b = { passed: 10, failed: 20, skipped: ["b", "c"] };
  assert.deepEqual(addTallies(a, b), { passed: 11, failed: 22, skipped: ["a", "b", "c"] });
  assert.deepEqual(addTallies(emptyTally, a), a);
});
