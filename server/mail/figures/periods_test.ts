import assert from "node:assert/strict";
import { bucketsOf, spanOf, totalOf } from "./periods.ts";

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 5, 15, 12, 34, 56);

Deno.test("spanOf() ends with the running hour or day", () => {
  const shown = (["24h", "7d", "30d", "90d"] as const).map((name) => {
    const { startMs, endMs, bucket, buckets } = spanOf(name, NOW_MS);
    return [new Date(startMs).toISOString(), new Date(endMs).toISOString(), bucket, buckets];
  });
  assert.deepEqual(shown, [
    ["2026-06-14T13:00:00.000Z", "2026-06-15T13:00:00.000Z", "hour", 24],
    ["2026-06-08T13:00:00.000Z", "2026-06-15T13:00:00.000Z", "hour", 168],
    ["2026-05-17T00:00:00.000Z", "2026-06-16T00:00:00.000Z", "day", 30],
    ["2026-03-18T00:00:00.000Z", "2026-06-16T00:00:00.000Z", "day", 90],
  ]);
  // On the hour a new bucket has begun.
  assert.equal(spanOf("24h", Date.UTC(2026, 5, 15, 13)).endMs, Date.UTC(2026, 5, 15, 14));
});

Deno.test("bucketsOf() fills with zeros, and counts nothing outside", () => {
  const span = spanOf("24h", NOW_MS);
  const at = (hours: number, received: number) => ({
    atMs: span.startMs + hours * HOUR_MS,
    counts: { received },
  });
  const hours = [at(-1, 100), at(0, 1), at(5, 2), at(23, 3), at(24, 100)];
  const series = bucketsOf(span, hours);
  assert.equal(series.length, 24);
  assert.deepEqual(series.map(({ counts }) => counts.received ?? 0).filter((n) => n > 0), [
    1,
    2,
    3,
  ]);
  assert.equal(series[0]!.atMs, span.startMs);
  assert.deepEqual(totalOf(span, hours), { received: 6 });
  const days = bucketsOf(spanOf("30d", NOW_MS), hours);
  assert.equal(days.length, 30);
  assert.deepEqual(days.slice(-2).map(({ counts }) => counts.received), [103, 103]);
});
