/** What the network's figures count (specification, 4.1; docs/adr/0011). Pure. */
import { MINUTE_MS } from "../../base/time/time_units.ts";

const TEST_HANDLE = /^(qa|sim|verify|flood)_/;
/**
 * The leaderboard's window in whole minutes; it is shorter when messages are kept for less time.
 */
export const WINDOW_MINUTES = 7 * 24 * 60;
export const MINUTES_AN_HOUR = 60;

/** Whether a handle marks test traffic. */
export function isTestHandle(handle: string): boolean {
  return TEST_HANDLE.test(handle);
}

/** Whether a send between these handles is counted at all. */
export function isCounted(senderHandle: string, recipientHandle: string): boolean {
  return !isTestHandle(senderHandle) && !isTestHandle(recipientHandle);
}

/** The minute, since 1970, that something happened in. */
export function minuteOf(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS);
}

/** The window when messages are kept for so many days: only retained sends are counted. */
export function windowMinutesOf(retentionDays: number): number {
  return Math.min(WINDOW_MINUTES, retentionDays * 24 * 60);
}

/** The first minute that does not lie wholly outside the trailing window. */
export function firstCountedMinute(nowMs: number, windowMinutes = WINDOW_MINUTES): number {
  return minuteOf(nowMs) - windowMinutes;
}
