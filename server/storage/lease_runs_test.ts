import assert from "node:assert/strict";
import { leaseRuns } from "./lease_runs.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const LENGTH = { lengthMs: 30_000, skewMs: 5_000 };

for (
  const [endsInMs, runs] of [
    [-5_000, false],
    [-4_999, true],
    [0, true],
    [35_000, true],
    [35_001, false],
    [20 * 3_600_000, false],
    [NaN, false],
  ] as const
) {
  Deno.test(`leaseRuns() says ${runs} of a lease that ends in ${endsInMs} ms`, () => {
    assert.equal(leaseRuns(NOW_MS + endsInMs, LENGTH, NOW_MS), runs);
  });
}
