import { AnswerError } from "./answer_error.ts";
import type { Failure } from "./connection.ts";
import { NetworkError } from "./network_error.ts";

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 10_000;

/** Servers that keep saying "at once" (a proxy's `Retry-After: 0`) are not asked without a pause. */
const MIN_TOLD_MS = 100;

/** Codes of status 503 that say how the relay is set up: they stay. */
const LASTING_503 = new Set<string>(["mail_disabled", "google_signin_disabled"]);

/** Whether the same request may succeed later. */
export function isPassing(failure: Failure): boolean {
  if (failure instanceof NetworkError) return true;
  if (failure instanceof AnswerError) {
    return failure.code === "not_of_the_contract" && isPassingStatus(failure.status);
  }
  return isPassingStatus(failure.status) && !LASTING_503.has(failure.code);
}

function isPassingStatus(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

/**
 * How long to wait before the next try: as long as the relay says, at least 100 ms. If it says
 * nothing, twice as long each time, up to 10 s. Half of that is random, so that clients do not all
 * come back at once.
 *
 * @param tries how many there were, from 1
 */
export function backoffMs(
  failure: Failure,
  tries: number,
  random: (sizeBytes: number) => Uint8Array,
): number {
  const told = failure instanceof NetworkError ? undefined : failure.retryAfterMs;
  if (told !== undefined) return Math.max(told, MIN_TOLD_MS);
  const limitMs = Math.min(FIRST_BACKOFF_MS * 2 ** (tries - 1), MAX_BACKOFF_MS);
  const [high = 0, low = 0] = random(2);
  return Math.round(limitMs * (1 + (high * 256 + low) / 65_536) / 2);
}
