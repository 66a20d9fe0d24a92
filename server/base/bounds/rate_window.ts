/**
 * Sliding windows of accepted events (docs/api.md, "Limits"). Pure: the caller keeps the stamps.
 *
 * A window is a flat list of pairs [timeMs, count], oldest first. Events of one millisecond share a
 * pair; where more than 600 events may lie in a window, events of one second do, or of a longer
 * bucket where the rule says so. An event may weigh more than one, such as the bytes of a message.
 */

import { CLOCK_SKEW_MS } from "../time/clock_skew.ts";

const EXACT_STAMPS = 600;
const BUCKET_MS = 1_000;

/** Flat pairs [timeMs, count], oldest first. */
export type Window = readonly number[];

export interface WindowRule {
  /** Accepted events that may lie in one window. */
  limit: number;
  windowMs: number;
  /** Events of this many ms share a pair where more than 600 may lie in a window; a second unless given. */
  bucketMs?: number;
}

/**
 * Whether one more event is allowed now, and the window with it.
 * @param weight what the event counts as, 1 unless given
 * @returns the new window, or the milliseconds until one more event will be allowed (1..windowMs)
 */
export function admit(
  window: Window,
  nowMs: number,
  { limit, windowMs, bucketMs = BUCKET_MS }: WindowRule,
  weight = 1,
): { window: number[] } | { retryAfterMs: number } {
  const { live, newest, atMs } = within(window, nowMs, windowMs);
  const count = sumOf(live);
  if (count + weight > limit) {
    // The event whose leaving makes room: the oldest, unless the limit was lowered meanwhile.
    let leaving = count + weight - limit;
    let i = 0;
    for (; i + 2 < live.length; i += 2) {
      leaving -= live[i + 1]!;
      if (leaving <= 0) break;
    }
    const oldest = live[i] ?? atMs;
    return { retryAfterMs: Math.min(windowMs, Math.max(1, oldest + windowMs - atMs)) };
  }
  const last = live.length - 2;
  const share = limit > EXACT_STAMPS
    ? Math.floor(newest / bucketMs) === Math.floor(atMs / bucketMs)
    : newest === atMs;
  // A shared pair keeps the time of its newest event: a bucket never lets an event in early.
  if (live.length > 0 && share) {
    live[last] = atMs;
    live[last + 1]! += weight;
  } else live.push(atMs, weight);
  return { window: live };
}

/**
 * As admit().
 * @param refuse makes the error for a full window, from the milliseconds until there is room
 * @returns the new window
 * @throws what `refuse` makes
 */
export function admitOrRefuse(
  window: Window,
  nowMs: number,
  rule: WindowRule,
  refuse: (retryAfterMs: number) => Error,
  weight = 1,
): number[] {
  const admitted = admit(window, nowMs, rule, weight);
  if ("window" in admitted) return admitted.window;
  throw refuse(admitted.retryAfterMs);
}

/** What the events of a window count as that admit() would count now. */
export function countIn(window: Window, nowMs: number, windowMs: number): number {
  return sumOf(within(window, nowMs, windowMs).live);
}

/** Without what a clock counted that was ahead: it would shut somebody out until then. */
function within(
  window: Window,
  nowMs: number,
  windowMs: number,
): { live: number[]; newest: number; atMs: number } {
  let end = window.length;
  while (end > 0 && window[end - 2]! > nowMs + CLOCK_SKEW_MS) end -= 2;
  const newest = end > 0 ? window[end - 2]! : 0;
  const atMs = Math.max(nowMs, newest);
  let from = 0;
  while (from < end && window[from]! <= atMs - windowMs) from += 2;
  return { live: window.slice(from, end), newest, atMs };
}

function sumOf(window: Window): number {
  let sum = 0;
  for (let i = 1; i < window.length; i += 2) sum += window[i]!;
  return sum;
}
