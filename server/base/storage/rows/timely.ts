/** Whether the time that a request was signed with is near enough: one rule for every door. */
import type { ClockWatch } from "./clock_watch.ts";

/** Times that may be right: while the clock cannot be relied on, more than one. */
export type PossibleTimes = Pick<ClockWatch, "possibleTimes">;

/**
 * Whether a signed time is within the window by any clock that may be right: a client with the right
 * time then reads on, and is told to wait with what it sends, not that its clock is wrong.
 * @param seconds unix time in whole seconds
 * @param windowSeconds greatest distance, inclusive, from the server's second
 */
export function isTimely(
  seconds: number,
  { possibleTimes }: PossibleTimes,
  windowSeconds: number,
): boolean {
  return possibleTimes.some((ms) => Math.abs(secondsOf(ms) - seconds) <= windowSeconds);
}

/** What a refused client is told: the wall clock's time, in whole seconds. */
export function serverSeconds({ possibleTimes }: PossibleTimes): number {
  return secondsOf(possibleTimes.at(-1)!);
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}
