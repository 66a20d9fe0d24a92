/** Counts what the outgoing queue holds, for the operator; reads keys, and no payload. */
import type { Store } from "../storage/rows/store.ts";
import { type DeadLetter, laneKey, leasedKey } from "./outgoing_row.ts";
import { listDeadLetters } from "./dead_letters.ts";

export interface QueueCounts {
  counts: { kind: string; waiting: number; firstDueMs: number | null }[];
  leased: number;
  isCut: boolean;
  givenUp: Pick<DeadLetter, "kind" | "diedAtMs" | "attempts" | "reason">[];
}

/** So many rows of the index are read, and no more: they are counted for a page. */
const COUNTED = 2_000;
const GIVEN_UP = 10;

export async function countQueue(store: Pick<Store, "list">): Promise<QueueCounts> {
  const [lanes, leased, dead] = await Promise.all([
    keysBelow(store, laneKey.under()),
    keysBelow(store, leasedKey.under()),
    listDeadLetters(store, GIVEN_UP),
  ]);
  const byKind = new Map<string, { kind: string; waiting: number; firstDueMs: number | null }>();
  for (const key of lanes) {
    const [, kind, , dueMs] = key as [string, string, string, number];
    const count = byKind.get(kind) ?? { kind, waiting: 0, firstDueMs: null };
    count.waiting++;
    count.firstDueMs = Math.min(count.firstDueMs ?? Infinity, dueMs);
    byKind.set(kind, count);
  }
  return {
    counts: [...byKind.values()],
    leased: leased.length,
    isCut: lanes.length === COUNTED || leased.length === COUNTED,
    givenUp: dead.map(({ kind, diedAtMs, attempts, reason }) => ({
      kind,
      diedAtMs,
      attempts,
      reason,
    })),
  };
}

async function keysBelow(store: Pick<Store, "list">, prefix: Deno.KvKey): Promise<Deno.KvKey[]> {
  return (await store.list({ prefix }, { limit: COUNTED })).map(({ key }) => key);
}
