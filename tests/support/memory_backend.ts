/**
 * Rows in memory, as a second adapter under the contract of the store. It expires nothing: the clock
 * decides everywhere what has expired, and a store only cleans up.
 */
import type {
  Backend,
  MaybeRow,
  Row,
  RowCheck,
  Write,
} from "../../server/base/storage/rows/backend.ts";
import { READ_KEYS } from "../../server/base/storage/rows/backend.ts";

type KeyPart = Exclude<Deno.KvKeyPart, symbol>;

/** Kinds of key parts in the order of Deno KV. */
const KINDS = ["object", "string", "bigint", "number", "boolean"];

function compareParts(a: KeyPart, b: KeyPart): number {
  const kinds = KINDS.indexOf(typeof a) - KINDS.indexOf(typeof b);
  if (kinds !== 0) return kinds;
  if (a instanceof Uint8Array) return compareBytes(a, b as Uint8Array);
  if (typeof a === "string") return compareBytes(utf8.encode(a), utf8.encode(b as string));
  return a < b ? -1 : a > b ? 1 : 0;
}

const utf8 = new TextEncoder();

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

function compareKeys(a: Deno.KvKey, b: Deno.KvKey): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const order = compareParts(a[i] as KeyPart, b[i] as KeyPart);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

export class MemoryBackend implements Backend {
  /** In the order of their keys. */
  #rows: Row<unknown>[] = [];
  #commits = 0;
  readonly #watchers = new Set<() => void>();

  get<T>(key: Deno.KvKey): Promise<MaybeRow<T>> {
    return Promise.resolve(this.#read<T>(key));
  }

  getMany<T>(keys: readonly Deno.KvKey[]): Promise<MaybeRow<T>[]> {
    if (keys.length > READ_KEYS) return Promise.reject(new TypeError("too many keys of one read"));
    return Promise.resolve(keys.map((key) => this.#read<T>(key)));
  }

  list<T>(selector: Deno.KvListSelector, limit: number, reverse: boolean): Promise<Row<T>[]> {
    const { prefix, start, end } = selector as {
      prefix?: Deno.KvKey;
      start?: Deno.KvKey;
      end?: Deno.KvKey;
    };
    const found = this.#rows.filter(({ key }) =>
      (prefix === undefined ||
        key.length > prefix.length && compareKeys(key.slice(0, prefix.length), prefix) === 0) &&
      (start === undefined || compareKeys(key, start) >= 0) &&
      (end === undefined || compareKeys(key, end) < 0)
    );
    if (reverse) found.reverse();
    return Promise.resolve(structuredClone(found.slice(0, limit)) as Row<T>[]);
  }

  commit(checks: readonly RowCheck[], writes: readonly Write[]): Promise<string | null> {
    const isOutdated = checks.some(({ key, versionstamp }) =>
      this.#read(key).versionstamp !== versionstamp
    );
    if (isOutdated) return Promise.resolve(null);
    const versionstamp = (++this.#commits).toString(16).padStart(20, "0");
    for (const write of writes) this.#write(write, versionstamp);
    for (const tell of this.#watchers) tell();
    return Promise.resolve(versionstamp);
  }

  watch(keys: readonly Deno.KvKey[]): ReadableStream<MaybeRow<unknown>[]> {
    const current = () => keys.map((key) => this.#read<unknown>(key));
    let tell: () => void;
    return new ReadableStream<MaybeRow<unknown>[]>({
      start: (stream) => {
        tell = () => stream.enqueue(current());
        this.#watchers.add(tell);
        tell();
      },
      cancel: () => void this.#watchers.delete(tell),
    });
  }

  #write(write: Write, versionstamp: string): void {
    const { key } = write;
    const former = this.#read<Deno.KvU64>(key).value;
    this.#rows = this.#rows.filter((row) => compareKeys(row.key, key) !== 0);
    if (write.kind === "delete") return;
    const value = write.kind === "set"
      ? structuredClone(write.value)
      : new Deno.KvU64((former?.value ?? 0n) + write.amount);
    this.#rows.push({ key, value, versionstamp });
    this.#rows.sort((a, b) => compareKeys(a.key, b.key));
  }

  #read<T>(key: Deno.KvKey): MaybeRow<T> {
    const row = this.#rows.find((one) => compareKeys(one.key, key) === 0);
    if (row === undefined) return { key, value: null, versionstamp: null };
    const { value, versionstamp } = row;
    return {
      key,
      value: (value instanceof Deno.KvU64 ? value : structuredClone(value)) as T,
      versionstamp,
    };
  }
}
