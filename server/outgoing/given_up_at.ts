/** Until when something is tried to be delivered. Wall time alone gives nothing up: it may leap. */
import { CLOCK_SKEW_MS } from "../clock_skew.ts";
import { earliestTimeMs } from "../storage/earliest_time.ts";
import type { Store } from "../storage/store.ts";
import { HOUR_MS, MINUTE_MS } from "../time_units.ts";

/** What the store has lived may be so much less than the time that has passed, and still agrees with it. */
const AGREEMENT_MS = HOUR_MS;
/** Within ten minutes of a leap everything is tried at least for so long yet. */
const AFTER_LEAP_MS = 10 * MINUTE_MS;

export interface Trying {
  /** From when on it is tried, unix ms. */
  fromMs: number;
  /** For how long. */
  lengthMs: number;
  /** For how long the store has lived since it was queued; null where that is not known. */
  livedMs: number | null;
}

/**
 * When something is given up, unix ms. Its time is over by the wall and relays have run for as long on the
 * store since it was queued, and that not soon after a leap: a clock that was ahead for a while ends nothing,
 * and what a relay slept through is tried when it wakes. A beginning that is in the future was given by a
 * clock that was wrong: then it is the time lived that counts.
 */
export function givenUpAtMs(
  { fromMs, lengthMs, livedMs }: Trying,
  { clock }: Pick<Store, "clock">,
): number {
  const nowMs = earliestTimeMs({ clock });
  const isFromTheFuture = livedMs !== null && fromMs > nowMs + CLOCK_SKEW_MS;
  return Math.max(
    isFromTheFuture ? -Infinity : fromMs + lengthMs,
    livedMs === null ? -Infinity : Math.ceil(nowMs + lengthMs - AGREEMENT_MS - livedMs),
    clock.leaptLately ? Math.ceil(nowMs + AFTER_LEAP_MS) : -Infinity,
  );
}

/** Whether it is given up now. */
export function isGivenUp(trying: Trying, store: Pick<Store, "clock">): boolean {
  return givenUpAtMs(trying, store) <= earliestTimeMs(store);
}
