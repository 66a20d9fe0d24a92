/**
 * Records that many commits read and write (mailboxes, profiles, counters), kept in memory with
 * their versionstamps. On an exclusive store an entry is always right. On a shared store it may be
 * outdated, and the commit checks it.
 */
import type { Store } from "../rows/store.ts";
import { BoundedMap } from "../../bounds/bounded_map.ts";
import type { RecordKey } from "./record_key.ts";

export interface RecordEntry {
  readonly key: Deno.KvKey;
  /** The record, or null where the store has none. Never mutated: a new value replaces it. */
  value: unknown;
  versionstamp: string | null;
  /**
   * True while an uncommitted group holds the record: no other group may take it, and it stays in
   * memory.
   */
  locked: boolean;
  /** The entry is to be dropped as soon as it is not locked any more. */
  doubted: boolean;
  /** Which one of all reads has put it into memory; commits of this process change it from there. */
  readonly readAs: number;
  /** How often it was asked for since the eviction last looked at it. */
  uses: number;
}

/** Measured: some 500 bytes each, an agent that sends and polls has three. */
const CAPACITY = 250_000;
/** A commit that has read a record asks for it once more when it is planned. */
const USES_TO_STAY = 2;

/** Name of a record in memory; the parts of record keys are strings and numbers only. */
export function recordName(key: Deno.KvKey): string {
  return key.length === 2 ? `${key[0] as string}/${key[1] as string}` : key.join("/");
}

export class RecordCache {
  readonly #entries: BoundedMap<string, RecordEntry>;
  readonly #loads = new Map<string, Promise<RecordEntry>>();
  /** Names that only read() waits for: an absent record is not kept then. */
  readonly #lookUps = new Set<string>();
  /** Records that were put into memory so far. */
  reads = 0;
  /** Raised at the end of each group commit, before its callers get their answers. */
  revision = 0;

  /** @param capacity records that are kept; locked ones may exceed it for a moment */
  constructor(private readonly store: Store, capacity = CAPACITY) {
    this.#entries = new BoundedMap(capacity, { stays });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The entry in memory, or undefined. */
  peek(name: string): RecordEntry | undefined {
    const entry = this.#entries.get(name);
    if (entry !== undefined) entry.uses++;
    return entry;
  }

  /** The same without counting it as a use. */
  peekUnused(name: string): RecordEntry | undefined {
    return this.#entries.get(name);
  }

  /** The entry, read from the store if memory has none. Concurrent calls share one read. */
  load(key: Deno.KvKey): Promise<RecordEntry> {
    const name = recordName(key);
    this.#lookUps.delete(name);
    return this.#load(key, name);
  }

  #load(key: Deno.KvKey, name: string, isLookUp = false): Promise<RecordEntry> {
    const present = this.peek(name);
    if (present !== undefined) return Promise.resolve(present);
    const running = this.#loads.get(name);
    if (running !== undefined) return running;
    if (isLookUp) this.#lookUps.add(name);
    const load = this.#read(key, name, () => this.#loads.get(name) === load);
    this.#loads.set(name, load);
    return load;
  }

  async #read(key: Deno.KvKey, name: string, isCurrent: () => boolean): Promise<RecordEntry> {
    let row: Deno.KvEntryMaybe<unknown>;
    try {
      row = await this.store.get(key);
    } catch (error) {
      if (isCurrent()) this.#loads.delete(name);
      this.#lookUps.delete(name);
      throw error;
    }
    // After an eviction meanwhile, the store may hold something newer than what was read.
    if (!isCurrent()) return await this.#load(key, name);
    this.#loads.delete(name);
    const isLookUp = this.#lookUps.delete(name);
    const { value, versionstamp } = row;
    const entry: RecordEntry = {
      key,
      value,
      versionstamp,
      locked: false,
      doubted: false,
      readAs: ++this.reads,
      uses: 0,
    };
    if (!isLookUp || value !== null) this.#entries.set(name, entry);
    return entry;
  }

  /**
   * The record for readers outside a commit: from memory on an exclusive store, from the store
   * itself on a shared one.
   */
  async read<T>(key: Deno.KvKey): Promise<T | null> {
    if (this.store.exclusive) {
      const name = recordName(key);
      // Absent records are not kept: look-ups of names that do not exist would fill the memory.
      return (await this.#load(key, name, true)).value as T | null;
    }
    return (await this.store.get<T>(key)).value;
  }

  /**
   * What read() would give without a read of the store; undefined where it would read, as it always does
   * on a shared store, and where memory knows that there is no record.
   */
  inMemory<T extends object>(key: RecordKey<T>): T | undefined {
    if (!this.store.exclusive) return undefined;
    return (this.peek(recordName(key))?.value as T | null | undefined) ?? undefined;
  }

  /**
   * read() of many records, those that are not in memory read together. Memory keeps none of them.
   * @returns values in the order of the keys
   */
  async readMany<T>(keys: readonly RecordKey<T>[]): Promise<(T | null)[]> {
    const rows = await this.store.getMany<T[]>(keys);
    if (!this.store.exclusive) return rows.map(({ value }) => value);
    // A record that was changed while it was read is in memory.
    return rows.map(({ key, value }) => {
      const entry = this.#entries.get(recordName(key));
      return entry === undefined ? value : entry.value as T | null;
    });
  }

  /** A row that is no record, always read from the store. */
  async readRow<T>(key: Deno.KvKey): Promise<T | null> {
    return (await this.store.get<T>(key)).value;
  }

  /** Makes the next load read the store, unless a group under way holds the record. */
  refresh(key: Deno.KvKey): void {
    const name = recordName(key);
    if (this.#entries.get(name)?.locked !== true) this.evict(name);
  }

  /**
   * Reads a record from the store, whatever memory holds, and drops what memory holds otherwise. No reader
   * waits for another who comes later, as after refresh() each does that has begun.
   */
  async readAnew(key: Deno.KvKey): Promise<Pick<RecordEntry, "value" | "versionstamp">> {
    const name = recordName(key);
    if (this.#entries.get(name) === undefined && !this.#loads.has(name)) return this.load(key);
    const row = await this.store.get(key);
    const entry = this.#entries.get(name);
    if (entry !== undefined && entry.versionstamp !== row.versionstamp) this.evict(name);
    return row;
  }

  /** Drops a record whose state in the store is unknown or newer: now, or when its group ends. */
  evict(name: string): void {
    this.#loads.delete(name);
    const entry = this.#entries.get(name);
    if (entry?.locked) entry.doubted = true;
    else this.#entries.delete(name);
  }

  /** The group that held the record has ended. Drops the record if evict() was called meanwhile. */
  unlock(name: string, entry: RecordEntry): void {
    entry.locked = false;
    if (!entry.doubted) return;
    entry.doubted = false;
    if (this.#entries.get(name) === entry) this.#entries.delete(name);
  }
}

function stays(entry: RecordEntry): boolean {
  const isUsed = entry.uses >= USES_TO_STAY;
  entry.uses = 0;
  return isUsed || entry.locked;
}
