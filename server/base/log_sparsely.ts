/** Failures that come in crowds, such as from a full disk, logged one at a time. */
import type { Log } from "./log.ts";
import { describeFailure } from "./describe_failure.ts";

const LOG_EVERY_MS = 10_000;

/** Logs a failure under an event's name, and none of those that follow within ten seconds. */
export function logSparsely(
  log: Log,
  event: string,
  now: () => number = () => performance.now(),
): (failure: unknown) => void {
  let loggedMs = -Infinity;
  return (failure) => {
    if (now() - loggedMs < LOG_EVERY_MS) return;
    loggedMs = now();
    log(event, describeFailure(failure));
  };
}
