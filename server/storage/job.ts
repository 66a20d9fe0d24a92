/** What a group commit is made of: jobs, and what each may do while it is planned. */
import type { RecordKey } from "./record_key.ts";

export interface Job<T> {
  /** Records that the job reads, checks and may write; it waits until each of them is free. */
  readonly records: readonly RecordKey<unknown>[];
  /** About how many bytes of memory the job and its request hold while it waits. */
  readonly sizeBytes: number;
  /**
   * True for what is committed even while the clock cannot be relied on: outcomes of what has left
   * already, and stamps without which nothing could be read. Other jobs are refused instead of planned.
   */
  readonly whateverTheClock?: boolean;
  /**
   * Decides what is written and returns the result, synchronously and without side effects. Called
   * again for each attempt, and when its group had no room left for what it planned. On a shared
   * store it writes one of its records or requires a row absent. A commit that the network repeats
   * is then applied once.
   * @throws RelayError to refuse; nothing of the job is then written
   */
  plan(turn: Turn): T;
  /**
   * Key of a row that tells whether an unclear commit was ours: one that plan() writes with
   * {attempt: turn.attempt}, or one that an attempt alone can write, named by that attempt.
   */
  readonly proof: Deno.KvKey | ((attempt: Attempt) => Deno.KvKey);
  /**
   * Run before a retry, and before a refusal on a shared store. Gives a result that another process
   * has stored already, or undefined.
   */
  settle?(): Promise<T | undefined>;
  /** Run once after the commit, before the caller gets its answer: updates what memory holds. */
  committed?(result: T): void;
  /**
   * Run when the caller gets 503 and it is unknown whether an attempt was stored.
   * @param proofs keys of the rows that would tell, of each attempt
   */
  leftUnclear?(proofs: readonly Deno.KvKey[]): void;
}

/** One try to commit a group. */
export interface Attempt {
  /** Random, and no other attempt's. */
  readonly attempt: string;
  readonly nowMs: number;
}

/** What plan() may do. Rows are written without a check; records are read, checked and written. */
export interface Turn extends Attempt {
  /** Ms that the store has lived (`Store.lived`), whole. */
  readonly livedMs: number;
  /** A record of the job, as earlier jobs of the group left it. */
  record<R>(key: RecordKey<R>): R | null;
  /** Versionstamp of the record as last committed, null where absent. */
  versionOf(key: Deno.KvKey): string | null;
  /** Whether an earlier job of this group has changed the record. */
  changedInGroup(key: Deno.KvKey): boolean;
  /** Replaces a record of the job, for good or for a time; null deletes it. */
  putRecord<R>(key: RecordKey<R>, value: R | null, expireInMs?: number): void;
  /**
   * The commit fails unless the row is absent. Two jobs that name one row must also share a record.
   */
  requireAbsent(key: Deno.KvKey): void;
  set(key: Deno.KvKey, value: unknown, expireInMs?: number): void;
  /**
   * Adds bytes to a row that the jobs of this group write together. Its key holds the attempt, so
   * that no other group writes it. A job adds once to a row.
   */
  append(key: Deno.KvKey, bytes: Uint8Array): void;
  delete(key: Deno.KvKey): void;
  /** Adds to a KvU64 counter that never expires. */
  sum(key: Deno.KvKey, amount: bigint): void;
  /** The smallest message id above `above` that this process may give. */
  allocateId(above: number): number;
}

/**
 * Thrown by plan() when the job's own reads are outdated. submit() rejects with it, and the caller
 * reads again.
 */
export class Outdated extends Error {}

/** A part of what one commit can hold. */
export interface Room {
  mutations: number;
  bytes: number;
}

/** Rows that each group writes once for all its jobs, such as summed counters and wake-up marks. */
export interface GroupAnnotation {
  /** Upper bounds of what one more result adds to its rows, without the keys. */
  room(result: unknown): Room;
  annotate(results: readonly unknown[], turn: Turn): void;
}
