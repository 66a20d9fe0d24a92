/**
 * What keeps the rows of a relay, as an adapter says it: the least that a store can be made of.
 * `createRows()` makes the contract of it that everything else sees. Keys, their order and the shape of
 * rows are those of Deno KV, whatever the adapter. Each call throws StoreFailed where the store fails;
 * anything else that it throws is a mistake of its caller.
 */

/** A row, or a key without one: value and versionstamp are null then. */
export type MaybeRow<T> = Deno.KvEntryMaybe<T>;
export type Row<T> = Deno.KvEntry<T>;

export interface Backend {
  get<T>(key: Deno.KvKey): Promise<MaybeRow<T>>;
  /** Rows in the order of their keys; at most READ_KEYS, which are read at one moment. */
  getMany<T>(keys: readonly Deno.KvKey[]): Promise<MaybeRow<T>[]>;
  /** The first rows of a range in the order of keys, or the last ones backwards, read at one moment. */
  list<T>(selector: Deno.KvListSelector, limit: number, reverse: boolean): Promise<Row<T>[]>;
  /**
   * Stores all writes if every check holds, and else none.
   * @returns the versionstamp written, or null where a check did not hold
   * @throws StoreFailed when the store does not say; what was to be stored may be stored then
   */
  commit(checks: readonly RowCheck[], writes: readonly Write[]): Promise<string | null>;
  /**
   * The rows of at most READ_KEYS keys, and all of them again after any has changed, by any process.
   * A shared file does not report other processes' changes.
   */
  watch(keys: readonly Deno.KvKey[]): ReadableStream<MaybeRow<unknown>[]>;
}

/** That a row has not changed: the versionstamp it had, null where it had to be absent. */
export type RowCheck = Deno.AtomicCheck;

export type Write =
  | {
    kind: "set";
    key: Deno.KvKey;
    value: unknown;
    expireInMs?: number;
    /** As valueSizeBytes() has it, where that is known. */
    sizeBytes?: number;
  }
  | { kind: "delete"; key: Deno.KvKey }
  | { kind: "sum"; key: Deno.KvKey; amount: bigint };

/**
 * Whether a check fails once a write was made, so that a commit of both which a network repeats is made
 * once. Of keys with bytes in them that is not known.
 */
export function changes({ kind, key }: Write, check: RowCheck): boolean {
  const isSame = key.length === check.key.length && key.every((part, i) => part === check.key[i]);
  return isSame && (kind !== "delete" || check.versionstamp !== null);
}

/** Keys of one read: KV Connect gives no more. */
export const READ_KEYS = 10;
