/** Marks by which processes that share a store tell each other whose mailbox has something new. */
import type { GroupAnnotation } from "../../storage/group_commit.ts";
import type { Receipt } from "../send/send.ts";

/** Deno KV watches at most ten keys. */
export const WAKE_SHARDS = 10;

/** ["wake", shard] -> unix ms; what counts is that it was written. */
export const wakeKey = (shard: number): Deno.KvKey => ["wake", shard];

export function wakeShardOf(agentId: number): number {
  return agentId % WAKE_SHARDS;
}

/** Every group that holds sends marks the shards of their recipients; for shared stores. */
export const markWakes: GroupAnnotation = {
  room: (result) => isSent(result) ? { mutations: 1, bytes: 50 } : { mutations: 0, bytes: 0 },
  annotate(results, turn) {
    const shards = new Set(
      results.filter(isSent).map(({ recipient }) => wakeShardOf(recipient.id)),
    );
    for (const shard of shards) turn.set(wakeKey(shard), turn.nowMs);
  },
};

function isSent(result: unknown): result is Receipt {
  return (result as Partial<Receipt> | null)?.kind === "sent";
}
