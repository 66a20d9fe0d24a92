/**
 * The rows of what leaves the relay by itself: one row for each thing to deliver. A row that no
 * process holds is found by an index of due times for each destination. A row that a process holds
 * is found by an index of lease ends. Handlers define the kinds.
 */
import { defineRecord } from "../storage/commits/record_key.ts";
import type { Transaction } from "../storage/commits/group_commit.ts";
import { DAY_MS } from "../time/time_units.ts";
import { defineRow } from "../storage/rows/row_key.ts";

export interface OutgoingRow<P = unknown> {
  v: 1;
  /** Which handler delivers it. */
  kind: string;
  /** Where it goes, for fairness between destinations; absent when the kind has only one. */
  destination?: string;
  payload: P;
  queuedAtMs: number;
  /**
   * What the store had lived when it was queued (Store.lived()), for kinds that give up by age. Absent in
   * rows of former versions.
   */
  livedMs?: number;
  /**
   * When its handler gives it up, whether or not its destination can be reached: it is then attempted
   * in any case. Absent for none.
   */
  endsAtMs?: number;
  /** When it is due, or when its lease is over; part of its index row's key. */
  dueMs: number;
  /**
   * When its due time was set, unix ms; absent before it is put back, when that is queuedAtMs, and in rows
   * that former versions put back.
   */
  dueSetAtMs?: number;
  /** Attempts begun. */
  attempts: number;
  /** "data" once the content may have been handed over: an attempt that ends so is not repeated. */
  phase: "ready" | "data";
  /** Random id of the lease that holds the row, null for none. */
  lease: string | null;
  /** Why the last attempt failed: a word and a reply code, never an address or a text of others. */
  lastReason: string | null;
}

/** Value of the rows under laneKey, leasedKey and endKey. */
export interface OutgoingIndexRow {
  v: 1;
}

export interface FormerDueRow {
  v: 1;
  kind: string;
  leased: boolean;
}

/** Was given up, and is kept for the operator to see. */
export interface DeadLetter<P = unknown> {
  v: 1;
  kind: string;
  payload: P;
  queuedAtMs: number;
  diedAtMs: number;
  attempts: number;
  /** Why it was given up; "unknown" when it is unknown whether the other side has it. */
  reason: string;
}

export const outgoingKey = defineRecord<OutgoingRow, [id: string]>(["outgoing"], 1, {
  holds: "something to deliver: kind, destination, payload, due time, lease, attempts, phase, " +
    "what the store had lived when it was queued",
});
export const laneKey = defineRow<[kind: string, destination: string, dueMs: number, id: string]>(
  ["outgoing-lane"],
  4,
  {
    holds: "index of those that nobody holds, by due time for each destination; of mail an org " +
      "and a tag of the recipient's domain",
  },
);
export const leasedKey = defineRow<[untilMs: number, id: string]>(["outgoing-leased"], 2, {
  holds: "index of those that a process holds, by the end of its lease",
});
export const endKey = defineRow<[endsAtMs: number, id: string]>(["outgoing-end"], 2, {
  holds: "index of those that are given up at a time, whatever their destination",
});
export const formerDueKey = defineRow<[dueMs: number, id: string]>(["outgoing-due"], 2, {
  holds: "the one index of former versions, with and without a lease",
  expires: "moved at the start",
});
export const deadKey = defineRow<[diedAtMs: number, id: string]>(["outgoing-dead"], 2, {
  holds: "what was given up, and why",
  expires: "30 d",
});

export const INDEX_ROW: OutgoingIndexRow = { v: 1 };

/** The key of the index row that leads to a row. */
export function indexKeyOf(id: string, row: OutgoingRow): Deno.KvKey {
  if (row.lease !== null) return leasedKey(row.dueMs, id);
  return laneKey(row.kind, row.destination ?? "", row.dueMs, id);
}

/**
 * Whether a row is found by an index row. Where it is not, a process of a former version, which does not
 * know this index, has changed the row, or another process has meanwhile.
 */
export function isFoundBy(id: string, row: OutgoingRow, indexKey: Deno.KvKey): boolean {
  const key = indexKeyOf(id, row);
  return key.length === indexKey.length && key.every((part, i) => part === indexKey[i]);
}

/** How long rows that were given up are kept. */
export const DEAD_KEPT_MS = 30 * DAY_MS;

export interface NewOutgoing<P = unknown> {
  /** Unique among all kinds, at most 100 characters, such as "digest/7". */
  id: string;
  kind: string;
  /** At most 100 characters, such as the host of a webhook; "" unless given. */
  destination?: string;
  payload: P;
  dueMs: number;
  /** See OutgoingRow. */
  endsAtMs?: number;
  livedMs?: number;
}

/** Under which plans announce what they queue: the outgoing queue hears of it once it is committed. */
export const QUEUED_TOPIC = "outgoing";
/** What is announced. */
export type QueuedOutgoing = Required<Pick<NewOutgoing, "id" | "kind" | "destination" | "dueMs">>;

/**
 * Queues something inside the plan of a job.
 * @returns false when the id is queued already: nothing is staged
 */
export function stageOutgoing(
  transaction: Pick<Transaction, "nowMs" | "record" | "putRecord" | "set" | "announce">,
  { id, ...fields }: NewOutgoing,
): boolean {
  const key = outgoingKey(id);
  if (transaction.record<OutgoingRow>(key) !== null) return false;
  const row = newRow(transaction, fields);
  transaction.putRecord(key, row);
  stageFound(transaction, id, row);
  return true;
}

/**
 * Queues something without a check, inside the plan of a job: many rows would be more checks than a
 * commit may have.
 * @param row its id cannot be queued already, since it contains one that this job makes
 */
export function stageNewOutgoing(
  transaction: Pick<Transaction, "nowMs" | "set" | "announce">,
  { id, ...fields }: NewOutgoing,
): void {
  const row = newRow(transaction, fields);
  transaction.set(outgoingKey(id), row);
  stageFound(transaction, id, row);
}

/** Makes a new row findable: by its index, and by this process's queue at once. */
function stageFound(
  transaction: Pick<Transaction, "set" | "announce">,
  id: string,
  row: OutgoingRow,
): void {
  const { kind, destination = "", dueMs } = row;
  transaction.announce(QUEUED_TOPIC, { id, kind, destination, dueMs } satisfies QueuedOutgoing);
  transaction.set(indexKeyOf(id, row), INDEX_ROW);
  if (row.endsAtMs !== undefined) transaction.set(endKey(row.endsAtMs, id), INDEX_ROW);
}

function newRow(
  { nowMs }: Pick<Transaction, "nowMs">,
  { kind, destination = "", payload, dueMs, endsAtMs, livedMs }: Omit<NewOutgoing, "id">,
): OutgoingRow {
  return {
    v: 1,
    kind,
    destination,
    payload,
    queuedAtMs: nowMs,
    ...(endsAtMs === undefined ? {} : { endsAtMs }),
    ...(livedMs === undefined ? {} : { livedMs: Math.floor(livedMs) }),
    dueMs,
    attempts: 0,
    phase: "ready",
    lease: null,
    lastReason: null,
  };
}
