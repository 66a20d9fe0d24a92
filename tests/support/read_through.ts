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
import type { JournalBounds } from "../../server/base/storage/journal/journal.ts";
import { orderedName, rangeOf } from "../../server/base/storage/journal/key_order.ts";
import { delay } from "./pace.ts";

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

/** What a commit sets by setting a row: that row, or what stands in it where it is one of the journal. */
export function setBy(key: Deno.KvKey, value: unknown): [key: Deno.KvKey, value: unknown][] {
  if (key[0] !== JOURNAL || value === undefined) return [[key, value]];
  const set = changesOf(value as JournalRow).filter(([kind]) => kind === SET);
  return set.map(([, key, value]) => [key, value]);
}

/** Bounds of a relay beside which a test writes rows that the relay has changed. */
export const SAVED_AT_ONCE: JournalBounds = {
  rows: 10_000,
  changes: 100_000,
  bytes: 100_000_000,
  afterMs: 0,
};
const SAVED_WITHIN_MS = 5_000;
const [JOURNAL] = journalKey.under();

/**
 * @returns the same store, of which get, getMany and list see what stands in the journal alone; no list has the
 *   journal itself unless by its prefix. What is written waits until its rows have left the journal: the relay's
 *   memory masks them before
 */
export function readThrough(kv: Deno.Kv): Deno.Kv {
  const reading = {
    async get(key: Deno.KvKey) {
      const [row] = await reading.getMany([key]);
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
      if (!("prefix" in selector) || selector.prefix[0] !== JOURNAL) removeJournal(rows);
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
  const changing = {
    async set(...[key, value, options]: Parameters<Deno.Kv["set"]>) {
      await unmasked(kv, [key]);
      return await kv.set(key, value, options);
    },
    async delete(key: Deno.KvKey) {
      await unmasked(kv, [key]);
      await kv.delete(key);
    },
    atomic() {
      const operation = kv.atomic();
      const keys: Deno.KvKey[] = [];
      const { set, delete: remove, commit } = operation;
      return Object.assign(operation, {
        set(...given: Parameters<typeof set>) {
          keys.push(given[0]);
          return set.apply(operation, given);
        },
        delete(key: Deno.KvKey) {
          keys.push(key);
          return remove.call(operation, key);
        },
        async commit() {
          await unmasked(kv, keys);
          return await commit.call(operation);
        },
      });
    },
  };
  const own: Record<PropertyKey, unknown> = { ...reading, ...changing };
  const seen = new Proxy(kv, {
    get(target, name) {
      if (name in own) return own[name];
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  raws.set(seen, kv);
  return seen;
}

/** Waits until a relay with SAVED_AT_ONCE has all rows where they belong, and reads them there. */
export async function untilSaved(kv: Deno.Kv): Promise<void> {
  while ((await readJournal(rawOf(kv))).size > 0) await delay(2);
}

async function unmasked(kv: Deno.Kv, keys: readonly Deno.KvKey[]): Promise<void> {
  const untilMs = performance.now() + SAVED_WITHIN_MS;
  for (;;) {
    const journalled = await readJournal(kv);
    const masked = keys.find((key) => journalled.has(orderedName(key)));
    if (masked === undefined) return;
    if (performance.now() > untilMs) {
      throw new Error(`a relay has ${masked} in memory: give it journalBounds SAVED_AT_ONCE`);
    }
    await delay(2);
  }
}

/** What it holds is told as if it stood where it belongs, and what is outdated in it leaves soon. */
function removeJournal(rows: Map<string, Deno.KvEntryMaybe<unknown>>): void {
  for (const [name, { key }] of rows) if (key[0] === JOURNAL) rows.delete(name);
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
