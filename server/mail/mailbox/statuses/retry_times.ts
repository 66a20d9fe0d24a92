/** When a recipient is tried again (docs/mail.md, "What became of it"). Pure. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../base/time/time_units.ts";

/** Waits after the first attempts; the last one repeats, and none is longer. */
const WAITS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
];
const JITTER = 0.1;
/** No wait after an attempt is longer. */
export const LONGEST_WAIT_MS = Math.ceil(WAITS_MS.at(-1)! * (1 + JITTER));
/** How long a recipient is tried, from the acceptance or the time that the sender chose. */
export const TRIED_MS = DAY_MS;

/** From when on a message's recipients are tried, unix ms. */
export function triedFromMs(row: { createdAtMs: number; sendAtMs: number | null }): number {
  return row.sendAtMs ?? row.createdAtMs;
}

/**
 * Wait after the n-th attempt, up to a tenth shorter or longer.
 * @param attempts made so far, at least 1
 * @param share random, 0 up to 1
 */
export function retryWaitMs(attempts: number, share: number): number {
  const fullMs = WAITS_MS[Math.min(Math.max(1, attempts), WAITS_MS.length) - 1]!;
  return Math.round(fullMs * (1 + JITTER * (2 * share - 1)));
}
