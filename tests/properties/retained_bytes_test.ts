import assert from "node:assert/strict";
import fc from "fast-check";
import { releaseBytes, retainBytes } from "../../server/messaging/mailboxes/retained_bytes.ts";
import { isLong } from "../support/long_test.ts";
import { propertyRuns } from "../support/property_runs.ts";

const DAY_MS = 86_400_000;
const RETENTION_MS = 30 * DAY_MS;
const RULE = { limitBytes: 1_000, retentionMs: RETENTION_MS };

const sends = fc.array(
  fc.record({
    sizeBytes: fc.integer({ min: 1, max: 400 }),
    afterMs: fc.integer({ min: 0, max: 6 * DAY_MS }),
  }),
  { maxLength: 120, size: "max" },
);

Deno.test("retainBytes() never lets retained messages pass the limit, and accepts after the wait it told", () => {
  fc.assert(
    fc.property(sends, (all) => {
      let days: readonly number[] = [];
      let nowMs = 1_780_000_000_000;
      const accepted: { atMs: number; sizeBytes: number }[] = [];
      for (const { sizeBytes, afterMs } of all) {
        nowMs += afterMs;
        const retained = () =>
          accepted.filter(({ atMs }) => nowMs - atMs < RETENTION_MS)
            .reduce((sum, message) => sum + message.sizeBytes, 0);
        const decision = retainBytes(days, sizeBytes, nowMs, RULE);
        if ("days" in decision) {
          days = decision.days;
          accepted.push({ atMs: nowMs, sizeBytes });
          assert.ok(retained() <= RULE.limitBytes);
          continue;
        }
        assert.ok(Number.isInteger(decision.retryAfterMs) && decision.retryAfterMs >= 1);
        const before = retainBytes(days, sizeBytes, nowMs + decision.retryAfterMs - 1, RULE);
        assert.ok(!("days" in before), "the wait is no longer than it must be");
        const oldest = days[0]!;
        const after = nowMs + decision.retryAfterMs;
        assert.ok((oldest + 1) * DAY_MS + RETENTION_MS <= after, "the oldest day has left");
      }
      assert.ok(days.length / 2 <= 32, "a pair a day");
    }),
    propertyRuns(isLong ? 200 : 60),
  );
});

Deno.test("retainBytes() calls days ahead of the clock today", () => {
  const ahead = [30_000, 600];
  const nowMs = 20_000 * DAY_MS;
  assert.deepEqual(retainBytes(ahead, 400, nowMs, RULE), { days: [20_000, 1_000] });
  const refused = retainBytes(ahead, 401, nowMs, RULE);
  assert.deepEqual(refused, { retryAfterMs: DAY_MS + RETENTION_MS });
});

Deno.test("releaseBytes() takes off what was purged, and leaves what was sent since", () => {
  const nowMs = 20_000 * DAY_MS;
  let days: number[] = [];
  const send = (sizeBytes: number, atMs: number) => {
    const decision = retainBytes(days, sizeBytes, atMs, RULE);
    assert.ok("days" in decision);
    days = decision.days;
  };
  send(100, nowMs);
  send(200, nowMs + DAY_MS);
  const purged = days;
  assert.deepEqual(releaseBytes(days, purged, RULE), []);
  send(30, nowMs + DAY_MS);
  send(5, nowMs + 2 * DAY_MS);
  assert.deepEqual(releaseBytes(days, purged, RULE), [20_001, 30, 20_002, 5]);
  // What has expired meanwhile is not taken off another day.
  send(7, nowMs + DAY_MS + RETENTION_MS);
  assert.deepEqual(releaseBytes(days, purged, RULE), [20_001, 30, 20_002, 5, 20_031, 7]);
  assert.deepEqual(releaseBytes([], purged, RULE), []);
  assert.deepEqual(releaseBytes([20_000, 50], purged, RULE), []);
});

Deno.test("retainBytes() counts some days together where messages are kept for long, never too early out", () => {
  const startDay = 20_000;
  const retentions = [99, 100, 101, 3_200, 36_500];
  assert.equal(retentions.length, 5);
  for (const retentionDays of retentions) {
    const rule = { limitBytes: 2 ** 50, retentionMs: retentionDays * DAY_MS };
    // A sender of each day, as a former version counted it, and then as this one does.
    let days: readonly number[] = [];
    for (let day = 0; day < 300; day++) days = [...days, startDay + day, 10];
    for (let day = 300; day < 2 * retentionDays + 300; day++) {
      const decision = retainBytes(days, 10, (startDay + day) * DAY_MS, rule);
      assert.ok("days" in decision);
      days = decision.days;
      assert.ok(days.length / 2 <= Math.max(102, 301 - day), `${days.length / 2} pairs`);
    }
    const total = days.reduce((sum, n, i) => i % 2 === 0 ? sum : sum + n, 0);
    const span = Math.ceil(retentionDays / 100);
    assert.ok(total >= 10 * retentionDays, "none is counted out before its time");
    assert.ok(total <= 10 * (retentionDays + span + 1), `${total} bytes of ${retentionDays} days`);
    if (span === 1) assert.equal(days.at(-2), startDay + 2 * retentionDays + 299);
  }
});

Deno.test("releaseBytes() finds the days of a purge that are counted together since", () => {
  const rule = { limitBytes: 2 ** 50, retentionMs: 36_500 * DAY_MS };
  const purged = [20_000, 100, 20_001, 200];
  const decision = retainBytes(purged, 30, 20_002 * DAY_MS, rule);
  assert.ok("days" in decision);
  const [last, bytes] = releaseBytes(decision.days, purged, rule);
  assert.equal(bytes, 30);
  assert.ok(last! >= 20_002);
});
