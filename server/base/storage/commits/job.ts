/** What a group commit is made of: jobs, and what each may do while it is planned. */
import type { Attempt } from "../rows/attempt.ts";
import type { RecordKey } from "./record_key.ts";

export type { Attempt } from "../rows/attempt.ts";

/** @template P what prepare() gives to plan() */
export interface Job<T, P = void> {
  /**
   * Decides what is written and returns the result, synchronously and without side effects. Called
   * again for each attempt, when a record that it asks for has to be read or waited for, and when its
   * group had no room left for what it planned.
   * @throws RelayError to refuse; nothing of the job is then written
   */
  plan(transaction: Transaction, prepared: P): T;
  /**
   * Reads what plan() needs in addition to records; runs before it, and again where that is outdated: a
   * record read through `reads` has changed since, or plan() throws Outdated.
   */
  prepare?(reads: Reads): Promise<P>;
  /** Records that plan() will ask for: those that memory lacks are read together, before it asks. */
  readonly records?: readonly RecordKey<unknown>[];
  /**
   * About how many bytes of memory the job and its request hold while it waits; JOB_BYTES unless given.
   * It may depend on what the job prepared.
   */
  readonly sizeBytes?: number | ((prepared: P) => number);
  /**
   * True for jobs that are committed even while the clock cannot be relied on: outcomes of what has left
   * already, and stamps that reading depends on. Other jobs are refused instead of planned.
   */
  readonly whateverTheClock?: boolean;
  /**
   * Run before a retry, and before a refusal on a shared store. Gives a result that another process
   * has stored already, or undefined.
   */
  findResult?(): Promise<T | undefined>;
  /** Run once after the commit, before the caller gets its answer: updates what memory holds. */
  committed?(result: T): void;
}

/** What most jobs hold, their requests included. */
export const JOB_BYTES = 4_000;

/** Reads records for a decision: the commit requires that they are the same then. */
export interface Reads {
  /** @throws Outdated where it has changed since it was read before */
  get<R>(key: RecordKey<R>): Promise<R | null>;
}

/**
 * What plan() may do. Records are read, checked and written; rows are written without a check. A commit
 * that a network repeats is applied once.
 */
export interface Transaction extends Attempt {
  /** Ms that the store has lived (`Store.lived`), whole. */
  readonly livedMs: number;
  /** A record as earlier jobs of the group left it. The commit requires that no other has changed it. */
  record<R>(key: RecordKey<R>): R | null;
  /** Replaces a record, for good or for a time; null deletes it. */
  putRecord<R>(key: RecordKey<R>, value: R | null, expireInMs?: number): void;
  /**
   * Requires that no earlier job of the group has changed a record: what was read before it might not
   * hold beside that. The job then waits for the group.
   */
  requireCommitted(key: RecordKey<unknown>): void;
  /** Requires that a record is as it was read before the plan. @throws Outdated */
  requireVersion(key: RecordKey<unknown>, versionstamp: string | null): void;
  /**
   * The commit fails unless the row is absent. Of two jobs that name one row, the second waits for the
   * first one's commit.
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
  /** Tells a topic's listener (`GroupCommit.listen`) something once the commit is made. */
  announce(topic: string, what: unknown): void;
  /** The smallest message id above `above` that this process may give. */
  allocateId(above: number): number;
}

/** What a plan has come to, for when its commit is made. */
export interface Planned {
  result: unknown;
  announced: readonly { topic: string; what: unknown }[];
}

/**
 * Thrown by plan() when what was read before it is outdated: it is prepared again. A job that prepares
 * nothing is rejected with it.
 */
export class Outdated extends Error {}

/** What something takes of a commit. */
export interface CommitSize {
  mutations: number;
  bytes: number;
}

/** Rows that each group writes once for all its jobs, such as summed counters and wake-up marks. */
export interface GroupAnnotation<R = unknown> {
  /** The `kind` of the results that it is for, and given alone; all, unless given. */
  kinds?: readonly string[];
  /** Upper bounds of what one more result adds to its rows, without the keys. */
  sizeOf(result: R): CommitSize;
  /** Called where there is any result that it is for. */
  annotate(results: readonly R[], transaction: Transaction): void;
}

/** Whether an annotation is for a result. */
export function isFor({ kinds }: GroupAnnotation, result: unknown): boolean {
  return kinds === undefined || kinds.includes((result as { kind?: string } | null)?.kind ?? "");
}
