/**
 * The one store of repetitions (docs/adr/0056). A use is a record or row which says of a request or of a
 * mail that it has been. It is found, decided on again in the commit that rests on it, put there with
 * what was answered, and ended by repetition_sweep.ts with all that stands beside it.
 *
 * The store must not let go of uses by itself, since it does so by a clock that may leap. Each stands for
 * its life by the wall clock and by what the store has lived, whichever takes longer, and has one row in
 * the index that the sweep reads.
 */
import { unavailable } from "../errors.ts";
import type { Transaction } from "../storage/commits/job.ts";
import type { RecordCache } from "../storage/commits/record_cache.ts";
import { defineRecord, isRecordKey } from "../storage/commits/record_key.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../storage/rows/store.ts";
import { defineRow, type KeyPart } from "../storage/rows/row_key.ts";
import { valueSizeBytes } from "../storage/rows/stored_size.ts";

/** A time by both clocks; the transaction of a job is one. */
export interface Moment {
  /** Wall time, unix ms. */
  nowMs: number;
  /** Ms that the store has lived. */
  livedMs: number;
}

interface Lived {
  /** What the store had lived when it was written, in ms; former versions wrote none. */
  livedMs?: number;
}

/** A use that says when it was, unix ms, and nothing else. */
export interface Mark extends Lived {
  v: 1;
  atMs: number;
}

/** What every use says; an idempotency key's has its time under another name. */
export type Use = Mark | (Omit<Mark, "atMs"> & { createdAtMs: number });

/** What a row of the index says of a use; its key names it. */
export interface RepetitionRow {
  v: 1;
  /** As it stands in the use: a later one under the same key has another. */
  livedMs: number;
  /** Rows that end with it, by what their keys have more than its own. */
  beside?: readonly Deno.KvKey[];
  /** What its kind has to know at its end. */
  held?: unknown;
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

/** Processes of former versions tell by the attempt that it has changed. */
export const sweepKey = defineRecord<{ attempt: string }, [kind: string]>(["repetition-sweep"], 1, {
  holds: "written by each commit of a sweep, and by who makes a row anew that is about to end: " +
    "a sweep that rests on rows read before is made anew",
});

export interface RepetitionsOptions {
  /** The first part of the keys of these uses. */
  name: string;
  /** How long a use stands, in ms. */
  lifeMs: number;
  /** What a repetition is told whose answer is gone. */
  lost?: string;
}

/** What a value of the store holds, with a margin, where a character counts two bytes. */
const MAX_ANSWER_BYTES = 65_000;

export function momentOf({ now, lived }: Pick<Store, "now" | "lived">): Moment {
  return { nowMs: now(), livedMs: lived() };
}

/** Uses of one kind. */
export class Repetitions<U extends Use> {
  readonly name: string;
  readonly lifeMs: number;

  constructor(private readonly options: RepetitionsOptions) {
    this.name = options.name;
    this.lifeMs = options.lifeMs;
  }

  /**
   * A use that was read, while it stands: until both clocks say that its life is over. A time of the
   * future comes from a clock that had leapt; the sweep ends its use by what the store has lived.
   */
  standing(use: U | null, now: Moment): U | null {
    return use !== null && this.#leftMs(use, now) > 0 ? use : null;
  }

  /** For how long it stands at most, in ms; not above 0 for what does not. */
  #leftMs(use: Use, now: Moment): number {
    const atMs = "atMs" in use ? use.atMs : use.createdAtMs;
    return this.lifeMs - Math.min(now.nowMs - atMs, now.livedMs - (use.livedMs ?? 0));
  }

  /** Writes a use of this moment. Who writes over one that is over deletes what stood beside it. */
  put(
    transaction: Transaction,
    key: Deno.KvKey,
    use: U,
    more: Pick<RepetitionRow, "beside" | "held"> = {},
  ): void {
    if (isRecordKey(key)) transaction.putRecord(key, use);
    else transaction.set(key, use);
    this.putEnd(transaction, key, { livedMs: use.livedMs!, ...more });
  }

  /**
   * Writes a use that is a row, in the place of what was read there, over or not. A sweep deletes rows
   * unchecked: one that may have read the former is made anew.
   */
  replace(transaction: Transaction, key: Deno.KvKey, use: U, former: U | null): void {
    if (former !== null) {
      transaction.delete(this.endKey(key, former));
      const { livedMs, attempt } = transaction;
      const mayEnd = livedMs - (former.livedMs ?? 0) >= this.lifeMs; // soon: processes differ by minutes
      if (mayEnd) transaction.putRecord(sweepKey(this.name), { attempt });
    }
    this.put(transaction, key, use);
  }

  /** Has a use swept when its life is over: put() does, and who changes what its end has to know. */
  putEnd(transaction: Transaction, key: Deno.KvKey, end: Omit<RepetitionRow, "v">): void {
    transaction.set(this.endKey(key, end), { v: 1, ...end } satisfies RepetitionRow);
  }

  /** The key of a use's row in the index. Who deletes the use before its end deletes that row. */
  endKey([, ...rest]: Deno.KvKey, { livedMs = 0 }: Lived): Deno.KvKey {
    return indexKey(
      this.name,
      livedMs + this.lifeMs + EXPIRY_MARGIN_MS,
      ...rest as KeyPart[],
    );
  }

  /** What lies in a row beside a use, so that memory does not keep it. @throws RelayError `unavailable` */
  async readBeside<Row>(
    { records, store }: {
      records: Pick<RecordCache, "readRow">;
      store: Pick<Store, "now" | "lived">;
    },
    key: Deno.KvKey,
    use: U,
    part: Deno.KvKey,
  ): Promise<Row> {
    const row = await records.readRow<Row>([...key, ...part]);
    if (row !== null) return row;
    // Former versions left it to the store when the two go: one of them may be gone alone.
    throw unavailable(this.options.lost!, Math.ceil(this.#leftMs(use, momentOf(store))));
  }
}

/** Writes a row beside a use, or replaces it. */
export function putBeside<Row extends { v: 1 }>(
  transaction: Transaction,
  key: Deno.KvKey,
  part: Deno.KvKey,
  row: Row,
): void {
  if (valueSizeBytes(row) > MAX_ANSWER_BYTES) {
    throw new RangeError("the answer to be kept is larger than a value of the store");
  }
  transaction.set([...key, ...part], row);
}

/** The key of the use that a row of the index is of. */
export function useOf([, kind, , ...rest]: Deno.KvKey): Deno.KvKey {
  return [kind!, ...rest];
}
