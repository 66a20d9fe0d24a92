/** The one rule of how long a stored lease counts for others than its holder. Pure. */
import { CLOCK_SKEW_MS } from "../clock_skew.ts";

export interface LeaseLength {
  /** How long a lease lasts unless renewed, in ms. */
  lengthMs: number;
  /** How far hosts' clocks may differ, in ms: for others a lease ends this much later. */
  skewMs?: number;
}

/**
 * Whether a lease that somebody else wrote still runs. One that ends further ahead than any holder whose
 * clock is right can have written comes from a clock that was wrong, and counts as over.
 * @param untilMs its end, as its holder stored it
 */
export function leaseRuns(
  untilMs: number,
  { lengthMs, skewMs = CLOCK_SKEW_MS }: LeaseLength,
  nowMs: number,
): boolean {
  return nowMs < untilMs + skewMs && untilMs <= latestEndMs({ lengthMs, skewMs }, nowMs);
}

/** The latest end that a lease can have which a right clock has given. */
export function latestEndMs({ lengthMs, skewMs = CLOCK_SKEW_MS }: LeaseLength, nowMs: number) {
  return nowMs + lengthMs + skewMs;
}
