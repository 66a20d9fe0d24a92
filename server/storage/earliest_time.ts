import type { Store } from "./store.ts";

/**
 * The time, unix ms; after a leap forward, until it is settled, the earlier of the two that may be right.
 * By it nothing is over too early, and nothing is stored for a time that is far ahead.
 */
export function earliestTimeMs({ clock }: Pick<Store, "clock">): number {
  return Math.floor(Math.min(...clock.possibleTimes));
}
