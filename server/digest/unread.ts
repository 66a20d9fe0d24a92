/** What of an agent's inbox is undelivered, as a digest tells of it. */
import type { StoredMessage } from "../messages/stored_messages.ts";
import { lowestIdAt } from "../storage/id_sequence.ts";

/** Undelivered retained messages of an agent above an id, ascending. */
export type ListUndelivered = (agentId: number, aboveId: number) => AsyncIterable<StoredMessage>;

export interface UnreadSummary {
  /** All undelivered messages. */
  count: number;
  /** Who sent them, each once, the sender of the newest first. */
  senderIds: number[];
}

/**
 * When an undelivered message later than a time was created, unix ms; null where there is none. A
 * stored time later than now counts as now.
 */
export async function findUnreadSince(
  list: ListUndelivered,
  agentId: number,
  sinceMs: number,
  nowMs: number,
): Promise<number | null> {
  // Ids never lag behind their creation: what came later has no lower id than this.
  for await (const { row } of list(agentId, lowestIdAt(sinceMs) - 1)) {
    const atMs = Math.min(row.createdAtMs, nowMs);
    if (atMs > sinceMs) return atMs;
  }
  return null;
}

/** Counts everything undelivered and who sent it. */
export async function summariseUnread(
  list: ListUndelivered,
  agentId: number,
): Promise<UnreadSummary> {
  let count = 0;
  const newestBySender = new Map<number, number>();
  for await (const { row } of list(agentId, 0)) newestBySender.set(row.senderId, ++count);
  const senderIds = [...newestBySender].sort((a, b) => b[1] - a[1]).map(([id]) => id);
  return { count, senderIds };
}
