import assert from "node:assert/strict";
import { RefusalCounts } from "./refusal_counts.ts";

Deno.test("RefusalCounts lists what was answered, most frequent first", () => {
  const counts = new RefusalCounts();
  assert.deepEqual(counts.list(), []);
  for (const code of ["not_found", "banned", "rate_limited", "not_found"] as const) {
    counts.add(code);
  }
  assert.deepEqual(counts.list(), [
    { code: "not_found", count: 2 },
    { code: "banned", count: 1 },
    { code: "rate_limited", count: 1 },
  ]);
});
