/** Marks with which processes that share a store tell each other which mailbox has something new. */
import type { GroupAnnotation } from "../storage/commits/group_commit.ts";
import type { Head, MailboxKind } from "./mailbox_kind.ts";

/** Deno KV watches at most ten keys. */
export const WAKE_SHARDS = 10;

export const ALL_SHARDS: readonly number[] = Array.from({ length: WAKE_SHARDS }, (_, n) => n);

/** [...marks, shard] -> unix ms; what counts is that it was written. */
export function wakeKey({ marks }: { marks: Deno.KvKey }, shard: number): Deno.KvKey {
  return [...marks, shard];
}

/**
 * The mark of a mailbox, by the last part of its key: a number by its last digit, a string by its
 * FNV-1a (32 bits, over code units). Frozen: processes of other versions mark the same store.
 */
export function wakeShardOf(mailbox: Deno.KvKey): number {
  const last = mailbox[mailbox.length - 1] as string | number;
  if (typeof last === "number") return last % WAKE_SHARDS;
  let hash = 0x811c9dc5;
  for (let i = 0; i < last.length; i++) hash = Math.imul(hash ^ last.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % WAKE_SHARDS;
}

/** Every group of commits marks the shards of the mailboxes it changes; for shared stores. */
export function markWakes<R, H extends Head>(kind: MailboxKind<R, H>): GroupAnnotation {
  return {
    sizeOf(result) {
      const mutations = Math.min(kind.changedBy(result).length, WAKE_SHARDS);
      return { mutations, bytes: 50 * mutations };
    },
    annotate(results, transaction) {
      const mailboxes = results.flatMap((result) => kind.changedBy(result));
      const shards = new Set(mailboxes.map(wakeShardOf));
      for (const shard of shards) transaction.set(wakeKey(kind, shard), transaction.nowMs);
    },
  };
}
