/** A store beside a relay that has it to itself, read as the relay reads it: its journal first. */
import type { RecordKey } from "../../server/base/storage/commits/record_key.ts";
import {
  changesOf,
  type FormerJournalRow,
  journalKey,
  type JournalRow,
  SET,
  THROUGH,
} from "../../server/base/storage/journal/journal_row.ts";
import { orderedName, rangeOf } from "../../server/base/storage/journal/key_order.ts";

/** Stores that are read through, and what they stand for. */
const raws = new WeakMap<Deno.Kv, Deno.Kv>();

/** The store itself, as a relay has to be given it. */
export function rawOf(kv: Deno.Kv): Deno.Kv {
  return raws.get(kv) ?? kv;
}

/** A store in memory that a test may read beside the relay that has it. */
export async function openMemoryKv(): Promise<Deno.Kv> {
  return readThrough(await Deno.openKv(":memory:"));
}

/** The file of a store that a relay has, or has left behind. */
export async function openKvFile(path: string): Promise<Deno.Kv> {
  return readThrough(await Deno.openKv(path));
}

/** @returns the same store, of which get, getMany and list see what stands in the journal alone */
export function readThrough(kv: Deno.Kv): Deno.Kv {
  const own = {
    async get(key: Deno.KvKey) {
      const [row] = await own.getMany([key]);
      return row;
    },
    async getMany(keys: readonly Deno.KvKey[]) {
      const journalled = await readJournal(kv);
      const rows = await Promise.all(keys.map((key) => kv.get(key)));
      return rows.map((row) => journalled.get(orderedName(row.key)) ?? row);
    },
    async *list(selector: Deno.KvListSelector, options: Deno.KvListOptions = {}) {
      const { limit = Infinity, reverse = false } = options;
      const journalled = await readJournal(kv);
      const rows = new Map<string, Deno.KvEntryMaybe<unknown>>();
      for await (const row of kv.list(selector)) rows.set(orderedName(row.key), row);
      const { from, to } = rangeOf(selector);
      for (const [name, row] of journalled) if (name >= from && name < to) rows.set(name, row);
      const names = [...rows.keys()].sort();
      if (reverse) names.reverse();
      let left = limit;
      for (const name of names) {
        const row = rows.get(name)!;
        if (row.versionstamp === null) continue;
        if (left-- <= 0) return;
        yield row;
      }
    },
  };
  const seen = new Proxy(kv, {
    get(target, name) {
      if (name in own) return own[name as keyof typeof own];
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  raws.set(seen, kv);
  return seen;
}

/** By name: what stands in the journal of each row. A row leaves it once it stands where it belongs. */
async function readJournal(kv: Deno.Kv): Promise<Map<string, Deno.KvEntryMaybe<unknown>>> {
  const found = new Map<string, Deno.KvEntryMaybe<unknown>>();
  const rows = kv.list<JournalRow | FormerJournalRow>({ prefix: journalKey.under() });
  for await (const { value, versionstamp } of rows) {
    for (const change of changesOf(value)) {
      const key = change[1];
      const name = orderedName(key);
      if (change[0] === THROUGH) found.delete(name);
      else if (change[0] === SET) found.set(name, { key, value: change[2], versionstamp });
      else found.set(name, { key, value: null, versionstamp: null });
    }
  }
  return found;
}

/** The newest value of a record that was committed, and its commit; both null where there is none. */
export async function storedRecord<T>(
  kv: Deno.Kv,
  key: RecordKey<T>,
): Promise<{ value: T | null; versionstamp: string | null }> {
  return await readThrough(kv).get<T>(key);
}
