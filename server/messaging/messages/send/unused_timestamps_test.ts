import assert from "node:assert/strict";
import { UnusedTimestamps } from "./unused_timestamps.ts";

Deno.test("UnusedTimestamps.claim() gives the smallest second from now on, each once a request", () => {
  const timestamps = new UnusedTimestamps(300);
  assert.deepEqual([1, 2, 3].map(() => timestamps.claim("a", 1000)), [1000, 1001, 1002]);
  assert.equal(timestamps.claim("b", 1000), 1000);
  assert.equal(timestamps.claim("a", 1001), 1003);
  assert.equal(timestamps.claim("a", 2000), 2000);
});

Deno.test("UnusedTimestamps.release() gives a second back, a gap first", () => {
  const timestamps = new UnusedTimestamps(300);
  for (let i = 0; i < 4; i++) timestamps.claim("a", 1000);
  timestamps.release("a", 1001);
  timestamps.release("unknown", 1002);
  assert.equal(timestamps.claim("a", 1000), 1001);
  assert.equal(timestamps.claim("a", 1000), 1004);
});

Deno.test("UnusedTimestamps.claim() refuses where the signature window has no second left", () => {
  const timestamps = new UnusedTimestamps(2);
  for (let i = 0; i < 3; i++) timestamps.claim("a", 1000);
  assert.throws(() => timestamps.claim("a", 1000), { code: "rate_limited", retryAfterMs: 1000 });
  assert.equal(timestamps.claim("a", 1001), 1003);
});

Deno.test("UnusedTimestamps.claim() keeps going where the clock goes back", () => {
  const timestamps = new UnusedTimestamps(300);
  assert.equal(timestamps.claim("a", 1000), 1000);
  assert.equal(timestamps.claim("a", 999), 999);
  assert.equal(timestamps.claim("a", 999), 1001);
});
