/**
 * The contract of the store, as everything outside this folder sees it. Inside are: tries while another
 * process has the file locked, a deadline of every call, how many keys and rows one read takes, and the
 * proof of commits where the store does not say whether it has them.
 */
import { RelayError } from "../../errors.ts";
import { attemptKey, attemptRow } from "./attempt.ts";
import { type Backend, changes, type MaybeRow, READ_KEYS, type Row } from "./backend.ts";
import {
  CALL_DEADLINE_MS,
  CallDeadline,
  type CallDeadlineOptions,
  isLate,
} from "./call_deadline.ts";
import { randomId } from "./random_id.ts";
import { RowTransaction } from "./row_transaction.ts";

export type { MaybeRow, Row };

export interface ListOptions<T> {
  /** A list ends when it has so many rows. */
  limit?: number;
  /** The last rows come first. */
  reverse?: boolean;
  /** Rows of one read of the store. */
  batchSize?: number;
  /** Which rows are kept, and counted; all unless given. */
  take?: (row: Row<T>) => boolean;
}

/**
 * Every call throws NoAnswer (503 `unavailable`) when the store does not answer within CALL_DEADLINE_MS, and
 * StoreFailed, which is one, when it fails.
 */
export interface Rows {
  get<T>(key: Deno.KvKey): Promise<MaybeRow<T>>;
  /** Rows in the order of their keys; those of each ten keys were read at one moment. */
  getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [I in keyof T]: Deno.KvKey }],
  ): Promise<{ [I in keyof T]: MaybeRow<T[I]> }>;
  /** Rows of a range in the order of their keys; those of each batch were read at one moment. */
  list<T>(selector: Deno.KvListSelector, options?: ListOptions<T>): Promise<Row<T>[]>;
  /** The same batch by batch, for ranges that memory should not hold. No batch is empty. */
  batches<T>(
    selector: Deno.KvListSelector,
    options?: Pick<ListOptions<T>, "reverse" | "batchSize">,
  ): AsyncGenerator<Row<T>[]>;
  /**
   * Reads, decides and stores as one: what the plan has read through its transaction is what the commit
   * checks, and where another commit was faster it is planned again on the new rows.
   * @param plan may run several times, and stores through its transaction alone
   * @returns what the plan returned that was stored, or that stores nothing
   * @throws what a plan throws; RelayError `unavailable` when others are faster time and again
   */
  transact<T>(plan: (transaction: RowTransaction) => Promise<T> | T): Promise<T>;
}

/** Rows of one read of a list, unless the caller says otherwise. */
const BATCH_SIZE = 200;
/** A batch that took less than a quarter of its time: the next may be larger again. */
const QUICK_MS = CALL_DEADLINE_MS / 4;
const ATTEMPTS = 40;
const LONGEST_PAUSE_MS = 128;
/** Tries to write what may be stored twice, where the store does not say whether it was. */
const TRIES = 3;

export interface RowsOptions extends CallDeadlineOptions {
  backend: Backend;
  random: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
  /** Whether a commit may be reported as failed that was stored: over a network, not in a file. */
  isUnclear: boolean;
  /** Monotonic ms; performance.now() unless given. */
  elapsed?: () => number;
}

/** The contract over what an adapter gives, and its commit() for the engine, which has deadlines of its own. */
export function createRows(
  { backend, random, isUnclear, elapsed = () => performance.now(), ...calls }: RowsOptions,
): Rows & Pick<Backend, "commit"> {
  const deadline = new CallDeadline(calls);

  function readAll<T>(keys: readonly Deno.KvKey[]): Promise<MaybeRow<T>[]> {
    if (keys.length === 0 || keys.length > READ_KEYS) return readInTens<T>(keys);
    return deadline.within(() => backend.getMany<T>(keys));
  }

  async function readInTens<T>(keys: readonly Deno.KvKey[]): Promise<MaybeRow<T>[]> {
    const rows: MaybeRow<T>[] = [];
    for (let from = 0; from < keys.length; from += READ_KEYS) {
      const some = keys.slice(from, from + READ_KEYS);
      rows.push(...await deadline.within(() => backend.getMany<T>(some)));
    }
    return rows;
  }

  let mostRows = Infinity;

  /** So many rows, or fewer: over a slow link a batch of large rows would be late each time. */
  async function readBatch<T>(
    selector: Deno.KvListSelector,
    size: number,
    reverse: boolean,
  ): Promise<{ rows: Row<T>[]; isLast: boolean }> {
    const limit = Math.min(size, mostRows);
    const beganMs = elapsed();
    try {
      const rows = await deadline.within(() => backend.list<T>(selector, limit, reverse));
      if (limit < size && elapsed() - beganMs < QUICK_MS) mostRows = 2 * limit;
      return { rows, isLast: rows.length < limit };
    } catch (error) {
      if (isLate(error)) mostRows = Math.min(mostRows, Math.max(1, Math.floor(limit / 4)));
      throw error;
    }
  }

  async function* batches<T>(
    selector: Deno.KvListSelector,
    { reverse = false, batchSize = BATCH_SIZE }: Pick<ListOptions<T>, "reverse" | "batchSize"> = {},
  ): AsyncGenerator<Row<T>[]> {
    for (let from = selector;;) {
      const { rows, isLast } = await readBatch<T>(from, batchSize, reverse);
      if (rows.length > 0) yield rows;
      if (isLast) return;
      from = restOf(from, rows.at(-1)!.key, reverse);
    }
  }

  /** True when the store took the transaction. @throws what keeps it from saying so */
  async function commit(transaction: RowTransaction): Promise<boolean> {
    const { checks, writes } = transaction;
    const store = async () =>
      await deadline.withinCommit(() => backend.commit(checks, writes)) !== null;
    if (!isUnclear) return await store();
    if (checks.length === 0 && writes.every(({ kind }) => kind !== "sum")) {
      return await inSomeTries(store); // may be stored twice
    }
    const attempt = randomId({ random });
    const proof = attemptKey(attempt);
    const proven = [...writes, attemptRow(attempt)];
    // A commit that a network repeats fails by a row that it has changed itself, or else by its proof.
    const failsByItself = checks.some((check) => writes.some((write) => changes(write, check)));
    const required = failsByItself ? checks : [...checks, { key: proof, versionstamp: null }];
    const isStored = async () =>
      (await deadline.within(() => backend.get(proof))).versionstamp !== null;
    try {
      const versionstamp = await deadline.withinCommit(() => backend.commit(required, proven));
      return versionstamp !== null || await isStored();
    } catch (error) {
      if (isLate(error) || !await isStored()) throw error;
      return true;
    }
  }

  return {
    commit: (checks, writes) => deadline.attend(() => backend.commit(checks, writes)),
    get: (key) => deadline.within(() => backend.get(key)),
    getMany: (keys) => readAll(keys) as Promise<never>,
    async list<T>(selector: Deno.KvListSelector, options: ListOptions<T> = {}) {
      const { limit = Infinity, batchSize = BATCH_SIZE, reverse = false, take } = options;
      const kept: Row<T>[] = [];
      if (limit <= 0) return kept;
      const size = Math.min(limit, batchSize);
      for (let from = selector;;) {
        const { rows, isLast } = await readBatch<T>(from, size, reverse);
        const isAll = isLast || rows.length >= limit;
        if (take === undefined && kept.length === 0 && isAll) return rows;
        for (const row of rows) {
          if (take !== undefined && !take(row)) continue;
          kept.push(row);
          if (kept.length >= limit) return kept;
        }
        if (isLast) return kept;
        from = restOf(from, rows.at(-1)!.key, reverse);
      }
    },
    batches,
    async transact(plan) {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const transaction = new RowTransaction(readAll);
        const result = await plan(transaction);
        if (transaction.writes.length === 0 || await commit(transaction)) return result;
        const boundMs = Math.min(LONGEST_PAUSE_MS, 2 ** attempt);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * boundMs));
      }
      throw new RelayError(
        "unavailable",
        "others changed the same each time this was to be stored; repeat it after Retry-After",
        { retryAfterMs: 1000 },
      );
    },
  };
}

/** @throws what took its time, and what the last try throws */
async function inSomeTries<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (isLate(error) || attempt === TRIES) throw error;
    }
  }
}

/** What of a range lies behind a key, in the direction of reading. */
function restOf(
  selector: Deno.KvListSelector,
  last: Deno.KvKey,
  reverse: boolean,
): Deno.KvListSelector {
  if (reverse) {
    return "start" in selector
      ? { start: selector.start, end: last }
      : { prefix: selector.prefix, end: last };
  }
  const start = [...last, new Uint8Array(0)]; // no key lies between the two
  return "end" in selector
    ? { start, end: selector.end }
    : { prefix: (selector as { prefix: Deno.KvKey }).prefix, start };
}
