import assert from "node:assert/strict";
import { retryWaitMs, triedFromMs } from "./retry_times.ts";

const MINUTE_MS = 60_000;

Deno.test("retryWaitMs() waits 1, 5, 15, 30 minutes, 1, 2, 4, 8 hours and 8 again, each within a tenth", () => {
  const minutes = [1, 5, 15, 30, 60, 120, 240, 480, 480, 480];
  assert.deepEqual(minutes.map((_, i) => retryWaitMs(i + 1, 0.5) / MINUTE_MS), minutes);
  assert.deepEqual(minutes.map((_, i) => retryWaitMs(i + 1, 0)), minutes.map((n) => n * 54_000));
  const longest = minutes.map((_, i) => retryWaitMs(i + 1, 255 / 256));
  assert.ok(
    longest.every((waitMs, i) => waitMs < minutes[i]! * 66_000 && waitMs > minutes[i]! * 65_000),
  );
});

Deno.test("triedFromMs() is the acceptance, or the time that was chosen", () => {
  assert.equal(triedFromMs({ createdAtMs: 5, sendAtMs: null }), 5);
  assert.equal(triedFromMs({ createdAtMs: 5, sendAtMs: 1_000 }), 1_000);
});
