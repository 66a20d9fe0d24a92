/**
 * How many bytes of retained messages a sender has in the store, by day (docs/api.md). Pure.
 *
 * Where messages are kept for more than a hundred days, some days are counted together, as the last of
 * them: the pairs are part of a record that every send writes, and the store bounds its size.
 */
import { DAY_MS } from "../../base/time/time_units.ts";

/** Pairs of a sender who sends each day, one or two more at most. */
const PAIRS = 100;

/** Flat pairs [days since 1970, bytes], oldest first. */
export type RetainedDays = readonly number[];

/**
 * Adds a message's bytes, or tells when there will be room.
 * @returns the new pairs, or the milliseconds until the oldest days leave the retention time
 */
export function retainBytes(
  days: RetainedDays,
  sizeBytes: number,
  nowMs: number,
  rule: { limitBytes: number; retentionMs: number },
): { days: number[] } | { retryAfterMs: number } {
  const today = Math.floor(nowMs / DAY_MS);
  // Days ahead come from a clock that has jumped.
  const merged = mergeDays(days.map((n, i) => i % 2 === 0 ? Math.min(n, today) : n), rule);
  const kept: number[] = [];
  let total = sizeBytes;
  for (let i = 0; i < merged.length; i += 2) {
    // A day counts until its last message has expired.
    if ((merged[i]! + 1) * DAY_MS + rule.retentionMs <= nowMs) continue;
    kept.push(merged[i]!, merged[i + 1]!);
    total += merged[i + 1]!;
  }
  if (total > rule.limitBytes) {
    const [oldest = today] = kept;
    return { retryAfterMs: Math.max(1, (oldest + 1) * DAY_MS + rule.retentionMs - nowMs) };
  }
  return { days: mergeDays([...kept, today, sizeBytes], rule) };
}

/**
 * Takes away the bytes of messages that were deleted before their time.
 * @param released the same pairs, as they were when nothing but those messages was retained
 */
export function releaseBytes(
  days: RetainedDays,
  released: RetainedDays,
  rule: { retentionMs: number },
): number[] {
  const gone = new Map<number, number>();
  const goneDays = mergeDays(released, rule);
  for (let i = 0; i < goneDays.length; i += 2) gone.set(goneDays[i]!, goneDays[i + 1]!);
  const before = mergeDays(days, rule);
  const kept: number[] = [];
  for (let i = 0; i < before.length; i += 2) {
    const left = before[i + 1]! - (gone.get(before[i]!) ?? 0);
    if (left > 0) kept.push(before[i]!, left);
  }
  return kept;
}

/** Pairs by the last day of those that are counted together; merged ones stay as they are. */
function mergeDays(days: RetainedDays, { retentionMs }: { retentionMs: number }): number[] {
  const span = Math.max(1, Math.ceil(retentionMs / DAY_MS / PAIRS));
  const merged: number[] = [];
  for (let i = 0; i < days.length; i += 2) {
    const last = Math.floor(days[i]! / span) * span + span - 1;
    if (merged[merged.length - 2] === last) merged[merged.length - 1]! += days[i + 1]!;
    else merged.push(last, days[i + 1]!);
  }
  return merged;
}
