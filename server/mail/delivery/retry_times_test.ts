import assert from "node:assert/strict";
import { givenUpAtMs, retryWaitMs } from "./retry_times.ts";

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

Deno.test("givenUpAtMs() is a day from the acceptance, or from the time that was chosen", () => {
  assert.equal(givenUpAtMs({ createdAtMs: 5, sendAtMs: null }), 86_400_005);
  assert.equal(givenUpAtMs({ createdAtMs: 5, sendAtMs: 1_000 }), 86_401_000);
});
