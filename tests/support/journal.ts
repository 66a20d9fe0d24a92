/** Records of a test that an exclusive store keeps in its journal first, and what commits do to it. */
import { KvBackend } from "../../server/base/storage/deno_kv/kv_backend.ts";
import assert from "node:assert/strict";
import { defineRecord } from "../../server/base/storage/commits/record_key.ts";
import type { Job } from "../../server/base/storage/commits/group_commit.ts";
import type { JournalBounds } from "../../server/base/storage/journal/journal.ts";
import { journalKey, type JournalRow } from "../../server/base/storage/journal/journal_row.ts";
import { delay } from "./pace.ts";
import {
  createStore,
  EMBEDDED_CAPACITY,
  type Store,
  type StoreCapacity,
} from "../../server/base/storage/rows/store.ts";
import type { FakeCommit } from "./fake_kv.ts";
import { TEST_START_MS } from "./clock.ts";
import { storeTimes, type TestStorage } from "./storage.ts";

/** Which operations a record has seen, in their order. */
export interface Tab {
  done: readonly number[];
  /** Makes the record large. */
  text?: string;
}

export const tabKey = defineRecord<Tab, [name: string]>(["tab"], 1);
export const doneKey = (operation: number): Deno.KvKey => ["done", operation];

/** What ["done", operation] holds: as the signature row of a send does. */
export interface DoneRow {
  attempt: string;
}

/** Bounds that nothing reaches: no record is written to its row before the store is closed. */
export const NEVER: JournalBounds = {
  rows: 100_000,
  changes: 100_000,
  bytes: 1e9,
  afterMs: 1_000_000,
};

/** Notes an operation in several records, and once in a row of its own, however often it is tried. */
export function tabJob(
  { store }: Pick<TestStorage, "store">,
  operation: number,
  names: readonly string[],
  text?: string,
): Job<number> {
  return {
    records: names.map(tabKey),
    sizeBytes: 200,
    findResult: async () =>
      (await store.get<DoneRow>(doneKey(operation))).value === null ? undefined : operation,
    plan(transaction) {
      transaction.requireAbsent(doneKey(operation));
      transaction.set(doneKey(operation), { attempt: transaction.attempt } satisfies DoneRow);
      for (const name of names) {
        const done = transaction.record<Tab>(tabKey(name))?.done ?? [];
        transaction.putRecord<Tab>(tabKey(name), {
          done: [...done, operation],
          ...(text === undefined ? {} : { text }),
        });
      }
      return operation;
    },
  };
}

/** What a commit is to the journal. */
export type Step = "group" | "fence" | "raise" | "save" | "deletion" | "replay" | "other";

export function stepOf({ writes }: FakeCommit): Step {
  if (writes.some(({ key }) => `${key}` === "meta,journal")) return "raise";
  const ofJournal = writes.filter(({ key }) => key[0] === "journal");
  const set = ofJournal.find(({ kind }) => kind === "set");
  if (set !== undefined) return (set.value as JournalRow).by === null ? "fence" : "group";
  const tabs = writes.some(({ key }) => key[0] === "tab");
  if (ofJournal.length > 0) return tabs ? "replay" : "deletion";
  return tabs ? "save" : "other";
}

/** Numbers of the journal's rows in the store. */
export async function journalNumbers(kv: Deno.Kv): Promise<number[]> {
  const rows = await Array.fromAsync(kv.list({ prefix: journalKey.under() }));
  return rows.map(({ key }) => key[1] as number);
}

/** A record's own row, which may be behind. */
export async function rowOf(kv: Deno.Kv, name: string): Promise<readonly number[] | null> {
  return (await kv.get<Tab>(tabKey(name))).value?.done ?? null;
}

/** A gate before the commits of one kind. */
export class Gate {
  #closed: PromiseWithResolvers<void> | null = null;
  /** How many commits have come to it while it was closed. */
  held = 0;

  close(): void {
    this.#closed ??= Promise.withResolvers();
  }

  open(): void {
    this.#closed?.resolve();
    this.#closed = null;
  }

  async pass(): Promise<void> {
    if (this.#closed === null) return;
    this.held++;
    await this.#closed.promise;
  }

  async reached(times = 1): Promise<void> {
    await until(() => this.held >= times);
  }
}

/** Waits for a state of the store or of memory. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !await holds(); tries++) {
    assert.ok(tries < 2_000, "it never came");
    await delay(2);
  }
}

export function writesOperation({ writes }: FakeCommit, operation: number): boolean {
  return writes.some(({ key }) => `${key}` === `${doneKey(operation)}`);
}

/** What a process knows of a record. */
export async function known({ records }: TestStorage, name: string): Promise<readonly number[]> {
  return (await records.read<Tab>(tabKey(name)))?.done ?? [];
}

/** A store for the replay alone. */
export function storeOn(kv: Deno.Kv, capacity: StoreCapacity = EMBEDDED_CAPACITY): Store {
  return createStore({
    backend: new KvBackend(kv),
    exclusive: true,
    capacity,
    ...storeTimes({ now: () => TEST_START_MS, elapsed: () => 0 }),
    random: (sizeBytes) => new Uint8Array(sizeBytes),
  });
}
