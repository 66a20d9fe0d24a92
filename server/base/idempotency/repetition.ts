/**
 * What tells a repetition apart: records and rows which say of a request or of a mail that it has been
 * (docs/adr/0056). The store must not let go of them by itself, since it does so by a clock that
 * may leap. Each stands for its life by the wall clock and by what the store has lived, whichever
 * takes longer, and has one row in an index by which a sweep of ours finds it
 * (repetition_sweep.ts).
 */
import type { Transaction } from "../storage/commits/job.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../storage/rows/store.ts";
import { defineRow, type KeyPart } from "../storage/rows/row_key.ts";

/** A time by both clocks; the transaction of a job is one. */
export interface Moment {
  /** Wall time, unix ms. */
  nowMs: number;
  /** Ms that the store has lived. */
  livedMs: number;
}

/** When something was written. */
export interface Written {
  /** Wall time, unix ms. */
  atMs: number;
  /** Ms that the store had lived; former versions, by which no store has lived, wrote none. */
  livedMs?: number;
}

/** What a row of the index says of a use; its key names it. */
export interface RepetitionRow {
  v: 1;
  /** As it stands in what was written: a later use under the same key has another. */
  livedMs: number;
  /** Rows that end with it, by what their keys have more than its own. */
  beside?: readonly Deno.KvKey[];
  /** What its kind has to know at its end. */
  held?: unknown;
}

export function momentOf({ now, lived }: Pick<Store, "now" | "lived">): Moment {
  return { nowMs: now(), livedMs: lived() };
}

/**
 * Whether what was written still stands: until both clocks say that its life is over. A time of the future
 * comes from a clock that had leapt; the sweep ends its use by what the store has lived.
 */
export function stillStands(
  { atMs, livedMs = 0 }: Written,
  lifeMs: number,
  now: Moment,
): boolean {
  return timeLeftMs({ atMs, livedMs }, lifeMs, now) > 0;
}

/** For how long it stands at most, in ms; not above 0 for what does not. */
export function timeLeftMs({ atMs, livedMs = 0 }: Written, lifeMs: number, now: Moment): number {
  return lifeMs - Math.min(now.nowMs - atMs, now.livedMs - livedMs);
}

export const indexKey = defineRow<[kind: string, endLivedMs: number, ...rest: KeyPart[]]>(
  ["repetition"],
  Infinity,
  {
    holds: "index of what tells repetitions apart, by what the store has to have lived at its " +
      "end; `kind` and `rest` are the key of what it is of; what stands beside it, and " +
      "what a stored mail answer takes",
    expires: "until swept",
  },
);

/** The key of a use's row in the index. Who deletes the use before its end deletes that row. */
export function repetitionKey(
  [kind, ...rest]: Deno.KvKey,
  { livedMs = 0 }: Pick<Written, "livedMs">,
  lifeMs: number,
): Deno.KvKey {
  return indexKey(
    kind as string,
    livedMs + lifeMs + EXPIRY_MARGIN_MS,
    ...rest as KeyPart[],
  );
}

/** The key of the use that a row of the index is of. */
export function useOf([, kind, , ...rest]: Deno.KvKey): Deno.KvKey {
  return [kind!, ...rest];
}

/**
 * Has a use swept when its life is over: one that the transaction writes with its `livedMs`, unless another is
 * given. Who writes over a use that is over deletes what stood beside it.
 */
export function stageRepetition(
  transaction: Transaction,
  key: Deno.KvKey,
  lifeMs: number,
  more: Partial<Omit<RepetitionRow, "v">> = {},
): void {
  const row: RepetitionRow = { v: 1, livedMs: transaction.livedMs, ...more };
  transaction.set(repetitionKey(key, row, lifeMs), row);
}
