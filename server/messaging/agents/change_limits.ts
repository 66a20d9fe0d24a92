/** How often an agent may change its profile and its owner_token: windows in the commits themselves. */
import { rateLimited } from "../../base/errors.ts";
import type { Transaction } from "../../base/storage/commits/group_commit.ts";
import { defineWindow, stageWindow } from "../../base/storage/commits/window_record.ts";
import { HOUR_MS, MINUTE_MS } from "../../base/time/time_units.ts";

const profileWindow = defineWindow<[agentId: number]>("profile", {
  holds: "changes of the profile of an agent",
  expires: "1 min",
});

/**
 * Counts a change of the profile, by PATCH or by the tool, in the commit that makes it.
 * @param limit changes a minute
 * @throws RelayError `rate_limited`
 */
export function countProfileChange(transaction: Transaction, agentId: number, limit: number): void {
  stageWindow(
    transaction,
    profileWindow(agentId),
    { limit, windowMs: MINUTE_MS },
    (retryAfterMs) =>
      rateLimited(
        `at most ${limit} profile changes a minute; put what is to change into one request, or wait retry_after_ms`,
        retryAfterMs,
      ),
  );
}

const tokenWindow = defineWindow<[agentId: number]>("owner-token", {
  holds: "new owner_tokens of an agent",
  expires: "1 h",
});

/**
 * Counts a new owner_token in the commit that makes it.
 * @param limit tokens an hour
 * @throws RelayError `rate_limited`
 */
export function countTokenRenewal(transaction: Transaction, agentId: number, limit: number): void {
  stageWindow(
    transaction,
    tokenWindow(agentId),
    { limit, windowMs: HOUR_MS },
    (retryAfterMs) =>
      rateLimited(
        `at most ${limit} new owner_tokens an hour; the last one given works on, or wait retry_after_ms`,
        retryAfterMs,
      ),
  );
}
