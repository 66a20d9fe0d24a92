/** When a digest is due (specification, section 6; docs/digest.md). Pure. */
import { CLOCK_SKEW_MS } from "../../base/time/clock_skew.ts";

export interface DigestTimes {
  /** When the address was set. */
  setAtMs: number;
  /** When the last digest was recorded; null before the first. */
  lastNotifiedMs: number | null;
  /** When the last accepted inbox poll began; null before the first. */
  lastPollMs: number | null;
}

/** Only an undelivered message that was created later than this makes a digest due. */
export function unseenSinceMs(times: DigestTimes, nowMs: number): number {
  return Math.max(
    believedMs(times.setAtMs, nowMs),
    believedMs(times.lastNotifiedMs, nowMs),
    believedMs(times.lastPollMs, nowMs),
  );
}

/** The earliest time of the next digest; 0 for at once. */
export function earliestDigestMs(
  { lastNotifiedMs }: DigestTimes,
  nowMs: number,
  intervalMs: number,
): number {
  const lastMs = believedMs(lastNotifiedMs, nowMs);
  return lastMs === 0 ? 0 : lastMs + intervalMs;
}

/** A stored time, 0 for none and for one that a jumped clock has left ahead. */
export function believedMs(atMs: number | null, nowMs: number): number {
  return atMs === null || atMs > nowMs + CLOCK_SKEW_MS ? 0 : atMs;
}
