import assert from "node:assert/strict";
import { RelayError } from "../../base/errors.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import type { Automated } from "../reading/parsed/parsed_mail.ts";
import { refuseLoop } from "./loop_limit.ts";

const NOW_MS = Date.UTC(2026, 10, 22, 12);
const sent = (count: number, firstAgoMs = HOUR_MS - 1) =>
  Array.from({ length: count }, (_, n) => NOW_MS - firstAgoMs + n * 1_000);

function retryAfterMs(ownAtMs: number[], lastInbound: Automated | null): number | null {
  try {
    refuseLoop({ ownAtMs, lastInbound }, NOW_MS);
    return null;
  } catch (error) {
    assert(error instanceof RelayError);
    assert.equal(error.code, "rate_limited");
    return error.retryAfterMs!;
  }
}

Deno.test("refuseLoop() lets 20 messages an hour pass in a thread", () => {
  assert.equal(retryAfterMs([], null), null);
  assert.equal(retryAfterMs(sent(19), "none"), null);
  assert.equal(retryAfterMs(sent(20), "none"), 1);
  assert.equal(retryAfterMs(sent(20), null), 1);
  assert.equal(retryAfterMs(sent(20, HOUR_MS), "none"), null);
});

Deno.test("refuseLoop() lets 10 pass when what came last was automated", () => {
  for (const automated of ["auto_reply", "bulk", "bounce"] as const) {
    assert.equal(retryAfterMs(sent(9), automated), null);
    assert.equal(retryAfterMs(sent(10), automated), 1);
    assert.equal(retryAfterMs(sent(10, HOUR_MS), automated), null);
  }
});

Deno.test("refuseLoop() says when the next one may go", () => {
  assert.equal(retryAfterMs(sent(20, 60_000), "none"), HOUR_MS - 60_000);
  // With 15 of them gone past, the sixth of the last ones has to leave for a limit of 10.
  assert.equal(retryAfterMs(sent(15, 60_000), "bulk"), HOUR_MS - 60_000 + 5_000);
});
