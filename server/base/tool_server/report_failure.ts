/** What callers of a tool are told when it failed: the log has what happened. */
import type { Log } from "../log.ts";
import { RelayError } from "../errors.ts";
import { describeFailure } from "../describe_failure.ts";

/**
 * Logs a failure of a tool.
 * @returns what the caller gets, with the id of the request; a refusal that is meant stays as it is
 */
export function reportFailure(log: Log, failure: unknown, requestId: string): RelayError {
  log("tool_failed", { request_id: requestId, ...describeFailure(failure) });
  return failure instanceof RelayError ? failure : new RelayError(
    "internal",
    `the relay failed on this call; try again later, and quote request id ${requestId} to its operator`,
  );
}
