import assert from "node:assert/strict";
import { leaseRuns } from "./lease.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const TIMING = { leaseMs: 30_000, clockSkewMs: 5_000 };

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
    assert.equal(leaseRuns(NOW_MS + endsInMs, TIMING, NOW_MS), runs);
  });
}
