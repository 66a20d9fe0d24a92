/**
 * The undelivered messages of an agent's inbox, as a digest reports them, with a bounded amount of
 * work.
 */
import type { UndeliveredSelection, UndeliveredSlice } from "../messages/inbox/undelivered.ts";
import { lowestIdAt } from "../../base/storage/commits/id_sequence.ts";

/** Undelivered retained messages of an agent, a slice at a time. */
export type ScanUndelivered = (
  agentId: number,
  selection: UndeliveredSelection,
) => AsyncIterable<UndeliveredSlice>;

/** What is read of one inbox for one digest. Messages beyond it are not counted. */
export const READ_BOUNDS = { rows: 2_000, bytes: 32 * 1024 * 1024 } as const;
const FIRST_SLICE = 20;

export interface UnreadSummary {
  /** Undelivered messages: all of them, or as many of the newest as were read. */
  count: number;
  /** Their senders, each once, the sender of the newest first. */
  senderIds: number[];
  /** Whether there may be more of both. */
  isPartial: boolean;
}

/**
 * When an undelivered message later than a given time was created, in unix ms; null when there is
 * none. A stored time later than now counts as now.
 */
export async function findUnreadSince(
  scan: ScanUndelivered,
  agentId: number,
  sinceMs: number,
  nowMs: number,
): Promise<number | null> {
  // Ids never lag behind their creation: no later message has a lower id than this.
  const selection = { aboveId: lowestIdAt(sinceMs) - 1, newestFirst: false, firstSlice: 1 };
  for await (const { messages } of bounded(scan(agentId, selection))) {
    for (const { createdAtMs } of messages) {
      const atMs = Math.min(createdAtMs, nowMs);
      if (atMs > sinceMs) return atMs;
    }
  }
  return null;
}

/** Counts the undelivered messages and their senders, newest first. */
export async function summariseUnread(
  scan: ScanUndelivered,
  agentId: number,
): Promise<UnreadSummary> {
  let count = 0;
  let isPartial = false;
  const senderIds = new Set<number>();
  const selection = { aboveId: 0, newestFirst: true, firstSlice: FIRST_SLICE };
  for await (const { messages, isLast } of bounded(scan(agentId, selection))) {
    count += messages.length;
    for (const { senderId } of messages) senderIds.add(senderId);
    isPartial = isLast;
  }
  return { count, senderIds: [...senderIds], isPartial };
}

/** Slices until READ_BOUNDS are reached. */
async function* bounded(
  slices: AsyncIterable<UndeliveredSlice>,
): AsyncGenerator<UndeliveredSlice & { isLast: boolean }> {
  let rows = 0;
  let bytes = 0;
  for await (const slice of slices) {
    rows += slice.rowsRead;
    bytes += slice.bytesRead;
    const isLast = rows >= READ_BOUNDS.rows || bytes >= READ_BOUNDS.bytes;
    yield { ...slice, isLast };
    if (isLast) return;
  }
}
