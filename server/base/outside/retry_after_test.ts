import assert from "node:assert/strict";
import { readRetryAfter } from "./retry_after.ts";

const NOW_MS = Date.UTC(2026, 10, 1, 12);
const DAY_MS = 86_400_000;

Deno.test("readRetryAfter() reads seconds and dates, from nothing to 24 hours", () => {
  const cases: [string | undefined, number | null][] = [
    [undefined, null],
    ["", null],
    ["0", 0],
    ["120", 120_000],
    [" 7 ", 7_000],
    ["86400", DAY_MS],
    ["86401", DAY_MS],
    ["9".repeat(400), DAY_MS],
    ["Sun, 01 Nov 2026 12:00:30 GMT", 30_000],
    ["Sun, 01 Nov 2026 11:59:00 GMT", 0],
    ["Wed, 01 Jan 2031 00:00:00 GMT", DAY_MS],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
  ];
  for (const [header, expected] of cases) {
    assert.equal(readRetryAfter(header, NOW_MS), expected, header);
  }
});

Deno.test("readRetryAfter() takes nothing of another form", () => {
  const forms = ["-1", "+1", "1.5", "1e3", "0x10", "1, 2", "soon", "1s", "Infinity", "NaN"];
  const dates = [
    "2026-11-01T12:00:30Z",
    "Sun, 99 Nov 2026 12:00:30 GMT",
    "01 Nov 2026 12:00:30 GMT",
  ];
  for (const header of [...forms, ...dates, "Sun Nov  1 12:00:30 2026", "١٢"]) {
    assert.equal(readRetryAfter(header, NOW_MS), null, header);
  }
});
