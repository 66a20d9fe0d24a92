import assert from "node:assert/strict";
import { claimTimestamp, createUsedTimestamps, type UsedByRequest } from "./used_timestamps.ts";

Deno.test("claimTimestamp() takes the smallest from now on that the request has not had", () => {
  const used: UsedByRequest = new Map();
  assert.deepEqual([100, 100, 100].map((now) => claimTimestamp(used, "a", now)), [100, 101, 102]);
  assert.equal(claimTimestamp(used, "b", 100), 100);
  assert.equal(claimTimestamp(used, "a", 101), 103);
  assert.equal(claimTimestamp(used, "a", 99), 99, "a clock that was set back");
  assert.equal(claimTimestamp(used, "a", 99), 104);
});

Deno.test("claimTimestamp() forgets what no relay accepts any more", () => {
  const used: UsedByRequest = new Map();
  claimTimestamp(used, "a", 1_000);
  claimTimestamp(used, "b", 1_000);
  claimTimestamp(used, "b", 1_001);
  claimTimestamp(used, "c", 1_600);
  assert.deepEqual([...used.keys()], ["a", "b", "c"]);
  claimTimestamp(used, "c", 1_601);
  assert.deepEqual(Object.fromEntries(used), { b: [1_001], c: [1_600, 1_601] });
});

Deno.test("createUsedTimestamps() begins without any", async () => {
  const one = createUsedTimestamps();
  assert.equal(await one.claim("a", 5), 5);
  assert.equal(await one.claim("a", 5), 6);
  assert.equal(await createUsedTimestamps().claim("a", 5), 5);
});
