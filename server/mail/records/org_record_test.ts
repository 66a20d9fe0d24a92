import assert from "node:assert/strict";
import { orgState, purgeAtMs, trialEndMs } from "./org_record.ts";

const LIMITS = { mailTrialHours: 24, mailTrialPurgeDays: 30 };
const DAY_MS = 86_400_000;

Deno.test("orgState() goes from trial to expired to gone on the millisecond; verified and deleted stay", () => {
  const endMs = trialEndMs(1_000, LIMITS);
  assert.equal(endMs, 1_000 + DAY_MS);
  assert.equal(purgeAtMs(endMs, LIMITS), endMs + 30 * DAY_MS);
  const trial = { trialEndsAtMs: endMs, deletedAtMs: null };
  const states = [1_000, endMs - 1, endMs, endMs + 30 * DAY_MS - 1, endMs + 30 * DAY_MS]
    .map((nowMs) => orgState(trial, nowMs, LIMITS));
  assert.deepEqual(states, ["trial", "trial", "expired", "expired", "gone"]);
  const verified = { trialEndsAtMs: null, deletedAtMs: null };
  assert.equal(orgState(verified, endMs + 100 * DAY_MS, LIMITS), "verified");
  for (const org of [trial, verified]) {
    assert.equal(orgState({ ...org, deletedAtMs: 0 }, 1_000, LIMITS), "gone");
  }
});
