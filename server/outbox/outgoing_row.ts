/**
 * What leaves the relay by itself, as the store holds it: one row a thing to deliver, found by an
 * index of due times. What kinds there are, their handlers say.
 */
import type { Turn } from "../storage/group_commit.ts";

/** ["outgoing", id] */
export interface OutgoingRow<P = unknown> {
  v: 1;
  /** Which handler delivers it. */
  kind: string;
  payload: P;
  queuedAtMs: number;
  /** When it is due, or when its lease is over; part of its index row's key. */
  dueMs: number;
  /** Attempts begun. */
  attempts: number;
  /** "data" once the content may have been handed over: an attempt that ends so is not repeated. */
  phase: "ready" | "data";
  /** Random id of the lease that holds the row, null for none. */
  lease: string | null;
  /** Raised by every change under a lease: tells whether an unclear commit was ours. */
  revision: number;
  /** Why the last attempt failed: a word and a reply code, never an address or a text of others. */
  lastReason: string | null;
}

/** ["outgoing-due", dueMs, id] */
export interface DueRow {
  v: 1;
  kind: string;
  leased: boolean;
}

/** ["outgoing-dead", diedAtMs, id]: given up, kept to be seen. */
export interface DeadRow<P = unknown> {
  v: 1;
  kind: string;
  payload: P;
  queuedAtMs: number;
  diedAtMs: number;
  attempts: number;
  /** Why; "unknown" where nobody can tell whether the other side has it. */
  reason: string;
}

export const outgoingKey = (id: string): Deno.KvKey => ["outgoing", id];
export const dueKey = (dueMs: number, id: string): Deno.KvKey => ["outgoing-due", dueMs, id];
export const deadKey = (
  diedAtMs: number,
  id: string,
): Deno.KvKey => ["outgoing-dead", diedAtMs, id];

/** How long given up rows are kept. */
export const DEAD_KEPT_MS = 30 * 86_400_000;

export interface NewOutgoing<P = unknown> {
  /** Unique among all kinds, at most 100 characters, such as "digest/7". */
  id: string;
  kind: string;
  payload: P;
  dueMs: number;
}

/**
 * Queues something inside the plan of a job; whoever submits the job calls Outbox.wake() when it is
 * committed. The commit fails where the id is queued already: the job's settle() must tell.
 */
export function stageOutgoing(
  turn: Pick<Turn, "nowMs" | "set" | "requireAbsent">,
  { id, kind, payload, dueMs }: NewOutgoing,
): void {
  const row: OutgoingRow = {
    v: 1,
    kind,
    payload,
    queuedAtMs: turn.nowMs,
    dueMs,
    attempts: 0,
    phase: "ready",
    lease: null,
    revision: 0,
    lastReason: null,
  };
  turn.requireAbsent(outgoingKey(id));
  turn.set(outgoingKey(id), row);
  turn.set(dueKey(dueMs, id), { v: 1, kind, leased: false } satisfies DueRow);
}
