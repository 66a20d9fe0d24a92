import assert from "node:assert/strict";
import { retryWaitMs } from "../../../base/notices/retry_waits.ts";
import { MAIL_WAITS, triedFromMs } from "./retry_times.ts";

const MINUTE_MS = 60_000;

Deno.test("MAIL_WAITS are 1, 5, 15, 30 minutes, 1, 2, 4, 8 hours and 8 again, each within a tenth", () => {
  const minutes = [1, 5, 15, 30, 60, 120, 240, 480, 480, 480];
  const waitsMs = (byte: number) =>
    minutes.map((_, i) => retryWaitMs(MAIL_WAITS, i + 1, { random: () => Uint8Array.of(byte) }));
  assert.deepEqual(waitsMs(0), minutes.map((n) => n * 66_000));
  assert.deepEqual(waitsMs(128), minutes.map((n) => n * MINUTE_MS));
  const shortest = waitsMs(255);
  assert.ok(
    shortest.every((waitMs, i) => waitMs > minutes[i]! * 54_000 && waitMs < minutes[i]! * 55_000),
  );
});

Deno.test("triedFromMs() is the acceptance, or the time that was chosen", () => {
  assert.equal(triedFromMs({ createdAtMs: 5, sendAtMs: null }), 5);
  assert.equal(triedFromMs({ createdAtMs: 5, sendAtMs: 1_000 }), 1_000);
});
