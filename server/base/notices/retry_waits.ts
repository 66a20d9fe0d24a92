/** How long a mail waits before it is tried again. Pure except for the random byte. */
import type { Store } from "../storage/rows/store.ts";

export interface RetryWaits {
  /** After the first attempts; the last one repeats. */
  waitsMs: readonly number[];
  /** Whether jitter makes them longer too; else shorter alone. */
  orLonger?: boolean;
}

/** So large a share of a wait, so that attempts that failed together spread out. */
const JITTER = 0.1;

/**
 * Wait after the n-th attempt, up to a tenth shorter, or longer.
 * @param attempts made so far
 */
export function retryWaitMs(
  waits: RetryWaits,
  attempts: number,
  { random }: Pick<Store, "random">,
): number {
  const { waitsMs } = waits;
  const fullMs = waitsMs[Math.min(Math.max(1, attempts), waitsMs.length) - 1]!;
  const most = mostOf(waits);
  const share = random(1)[0]! / 256;
  return Math.round(fullMs * (most - (most - 1 + JITTER) * share));
}

/** No wait is longer. */
export function longestWaitMs(waits: RetryWaits): number {
  return Math.ceil(Math.max(...waits.waitsMs) * mostOf(waits));
}

const mostOf = ({ orLonger }: RetryWaits): number => orLonger ? 1 + JITTER : 1;
