/** Until when something is tried to be delivered. Wall time alone gives nothing up: it may leap. */
import type { Store } from "../storage/rows/store.ts";
import { HOUR_MS, MINUTE_MS } from "../time/time_units.ts";
import type { OutgoingItem } from "./outgoing_handler.ts";

/** What the store has lived may differ so much from the time that has passed, and still agrees with it. */
const AGREEMENT_MS = HOUR_MS;
/** Within ten minutes of a leap everything is tried at least for so long yet. */
const AFTER_LEAP_MS = 10 * MINUTE_MS;

export interface Trying {
  /** From when on it is tried, unix ms. */
  fromMs: number;
  /** For how long. */
  lengthMs: number;
}

/**
 * When something is given up, unix ms: when its time is over by the wall and relays have run for about as
 * long on the store since it was queued. A clock that was ahead for a while ends nothing so, and one that was
 * ahead when it was queued keeps nothing alive: relays never run for longer than time has passed. Nothing
 * is given up soon after a leap, so that what a relay slept through is tried when it wakes.
 */
export function givenUpAtMs(
  { queuedAtMs, livedMs }: Pick<OutgoingItem, "queuedAtMs" | "livedMs">,
  { fromMs, lengthMs }: Trying,
  { clock }: Pick<Store, "clock">,
): number {
  const nowMs = clock.nowMs;
  const waitedMs = Math.max(0, fromMs - queuedAtMs);
  const atLeastMs = livedMs === null ? -Infinity : nowMs + lengthMs - AGREEMENT_MS - livedMs;
  const atMostMs = livedMs === null
    ? Infinity
    : nowMs + waitedMs + lengthMs + AGREEMENT_MS - livedMs;
  const byLifeMs = Math.min(Math.max(fromMs + lengthMs, atLeastMs), atMostMs);
  return Math.ceil(Math.max(byLifeMs, clock.leaptLately ? nowMs + AFTER_LEAP_MS : -Infinity));
}

/** Whether it is given up now. */
export function isGivenUp(
  item: Parameters<typeof givenUpAtMs>[0],
  trying: Trying,
  store: Pick<Store, "clock">,
): boolean {
  return givenUpAtMs(item, trying, store) <= store.clock.nowMs;
}
