import assert from "node:assert/strict";
import { earliestDigestMs, unseenSinceMs } from "./due_rules.ts";

const NOW = Date.UTC(2026, 5, 1);
const HOUR_MS = 3_600_000;
const times = { setAtMs: NOW - 9, lastNotifiedMs: null, lastPollMs: null };

Deno.test("unseenSinceMs() is the latest of setting, last digest and last poll", () => {
  assert.equal(unseenSinceMs(times, NOW), NOW - 9);
  assert.equal(unseenSinceMs({ ...times, lastNotifiedMs: NOW - 5 }, NOW), NOW - 5);
  assert.equal(unseenSinceMs({ ...times, lastPollMs: NOW - 3 }, NOW), NOW - 3);
  assert.equal(unseenSinceMs({ setAtMs: 7, lastNotifiedMs: 9, lastPollMs: 8 }, NOW), 9);
});

Deno.test("unseenSinceMs() disregards times that a jumped clock has left over 5 s ahead", () => {
  assert.equal(unseenSinceMs({ ...times, lastPollMs: NOW + 5_000 }, NOW), NOW + 5_000);
  assert.equal(unseenSinceMs({ ...times, lastPollMs: NOW + 5_001 }, NOW), NOW - 9);
  assert.equal(unseenSinceMs({ ...times, setAtMs: NOW + 5_001 }, NOW), 0);
});

Deno.test("earliestDigestMs() is an interval after the last digest, at once without one", () => {
  assert.equal(earliestDigestMs(times, NOW, HOUR_MS), 0);
  assert.equal(
    earliestDigestMs({ ...times, lastNotifiedMs: NOW - 7 }, NOW, HOUR_MS),
    NOW - 7 + HOUR_MS,
  );
  assert.equal(earliestDigestMs({ ...times, lastNotifiedMs: NOW + 5_001 }, NOW, HOUR_MS), 0);
});
