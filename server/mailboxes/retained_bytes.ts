/** How many bytes of retained messages a sender has in the store, by day (decisions, "Limits"). Pure. */
import { DAY_MS } from "../time_units.ts";

/**
 * Adds a message's bytes, or tells when there will be room.
 * @param days flat pairs [days since 1970, bytes], oldest first
 * @returns the new pairs, or the milliseconds until the oldest day leaves the retention time
 */
export function retainBytes(
  days: readonly number[],
  sizeBytes: number,
  nowMs: number,
  rule: { limitBytes: number; retentionMs: number },
): { days: number[] } | { retryAfterMs: number } {
  const today = Math.floor(nowMs / DAY_MS);
  // A day counts until its last message has expired.
  const kept: number[] = [];
  let total = sizeBytes;
  for (let i = 0; i < days.length; i += 2) {
    const day = Math.min(days[i]!, today); // days ahead come from a clock that has jumped
    if ((day + 1) * DAY_MS + rule.retentionMs <= nowMs) continue;
    if (kept[kept.length - 2] === day) kept[kept.length - 1]! += days[i + 1]!;
    else kept.push(day, days[i + 1]!);
    total += days[i + 1]!;
  }
  if (total > rule.limitBytes) {
    const oldest = kept[0] ?? today;
    return { retryAfterMs: Math.max(1, (oldest + 1) * DAY_MS + rule.retentionMs - nowMs) };
  }
  if (kept[kept.length - 2] === today) kept[kept.length - 1]! += sizeBytes;
  else kept.push(today, sizeBytes);
  return { days: kept };
}

/**
 * Takes away the bytes of messages that were deleted before their time.
 * @param days flat pairs [days since 1970, bytes], oldest first
 * @param released the same, as it was when nothing but those messages was retained
 */
export function releaseBytes(days: readonly number[], released: readonly number[]): number[] {
  const gone = new Map<number, number>();
  for (let i = 0; i < released.length; i += 2) gone.set(released[i]!, released[i + 1]!);
  const kept: number[] = [];
  for (let i = 0; i < days.length; i += 2) {
    const left = days[i + 1]! - (gone.get(days[i]!) ?? 0);
    if (left > 0) kept.push(days[i]!, left);
  }
  return kept;
}
