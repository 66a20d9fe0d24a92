/** The storage layer alone, with a clock that can be moved. Several of them may share one store. */
import { KvBackend } from "../../server/base/storage/deno_kv/kv_backend.ts";
import { defineRecord } from "../../server/base/storage/commits/record_key.ts";
import { ClockWatch } from "../../server/base/storage/rows/clock_watch.ts";
import {
  GroupCommit,
  type GroupCommitOptions,
  type Job,
} from "../../server/base/storage/commits/group_commit.ts";
import { IdSequence } from "../../server/base/storage/commits/id_sequence.ts";
import { endJournal } from "../../server/base/storage/journal/end_journal.ts";
import { Journal, type JournalBounds } from "../../server/base/storage/journal/journal.ts";
import type { LeaseTiming } from "../../server/base/storage/leases/lease.ts";
import type { QueueBounds } from "../../server/base/storage/commits/job_queue.ts";
import { RecordCache } from "../../server/base/storage/commits/record_cache.ts";
import {
  createStore,
  EMBEDDED_CAPACITY,
  type Store,
  type StoreCapacity,
} from "../../server/base/storage/rows/store.ts";
import { WriterSlot } from "../../server/base/storage/leases/writer_slot.ts";
import { rawOf } from "./read_through.ts";
import { createTestClock, type TestClock } from "./clock.ts";

export interface TestStorageOptions {
  exclusive?: boolean;
  capacity?: StoreCapacity;
  clock?: TestClock;
  slotTiming?: LeaseTiming;
  bounds?: QueueBounds;
  /** Records kept in memory. */
  cached?: number;
  journalBounds?: JournalBounds;
  /** Fails the test, unless given. */
  onUnheard?: GroupCommitOptions["onUnheard"];
}

/** One process, as the store sees it. */
export interface TestStorage {
  store: Store;
  clock: TestClock;
  records: RecordCache;
  ids: IdSequence;
  slot: WriterSlot | null;
  commits: GroupCommit;
  /** None on a shared store. */
  journal: Journal | null;
  /** Finishes what runs; a test of a process that dies does not call it. */
  close(): Promise<void>;
}

/** The times of a store, whose life has been as long as its clock's. */
export function storeTimes(
  { now, elapsed }: Pick<TestClock, "now" | "elapsed">,
): Pick<Store, "now" | "elapsed" | "clock" | "lived"> {
  const clock = new ClockWatch({ now, elapsed, log: () => {} });
  return { now: () => clock.nowMs, elapsed, lived: elapsed, clock };
}

export async function openTestStorage(
  kv: Deno.Kv,
  options: TestStorageOptions = {},
): Promise<TestStorage> {
  const clock = options.clock ?? createTestClock();
  const backend = new KvBackend(rawOf(kv));
  const { exclusive = true, capacity = EMBEDDED_CAPACITY } = options;
  const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));
  if (!exclusive) await endJournal(backend, capacity, Date.now());
  const journal = exclusive
    ? await Journal.open(backend, { random, bounds: options.journalBounds })
    : null;
  const store = createStore({
    backend: journal ?? backend,
    exclusive,
    capacity,
    ...storeTimes(clock),
    random,
  });
  await store.floor.learn();
  const records = new RecordCache(store, options.cached);
  const slot = store.exclusive ? null : await WriterSlot.lease(store, options.slotTiming);
  const ids = await IdSequence.open(store, slot);
  const { bounds, onUnheard = reportError } = options;
  const commits = new GroupCommit({ store, records, ids, bounds, onUnheard });
  return {
    store,
    clock,
    records,
    ids,
    slot,
    commits,
    journal,
    async close() {
      await commits.drained();
      await journal?.close();
      await slot?.release();
    },
  };
}

/** A mailbox of a test: holds the id of its newest message, as the records of agents do. */
export interface TestMailbox {
  head: number;
  attempt?: string;
}

export const mailboxKey = defineRecord<TestMailbox, [name: string]>(["box"], 1);
export const letterKey = (name: string, id: number): Deno.KvKey => ["letter", name, id];
export const onceKey = (request: string): Deno.KvKey => ["once", request];

/** What ["once", request] holds, as the signature row of a send does. */
export interface TestOnce {
  attempt: string;
  id: number;
}

/**
 * The job of a send, reduced to what its correctness depends on. It names two mailboxes and writes
 * one letter in each, with ids above both heads. One row makes a repetition harmless.
 */
export function letterJob(
  { store }: Pick<TestStorage, "store">,
  from: string,
  to: string,
  request: string,
): Job<number> {
  const boxes = [...new Set([from, to])];
  return {
    records: boxes.map(mailboxKey),
    sizeBytes: 200,
    findResult: async () => (await store.get<TestOnce>(onceKey(request))).value?.id,
    plan(transaction) {
      const heads = boxes.map((name) =>
        transaction.record<TestMailbox>(mailboxKey(name))?.head ?? 0
      );
      const id = transaction.allocateId(Math.max(...heads));
      transaction.requireAbsent(onceKey(request));
      transaction.set(onceKey(request), { attempt: transaction.attempt, id } satisfies TestOnce);
      for (const name of boxes) {
        transaction.putRecord(mailboxKey(name), { head: id } satisfies TestMailbox);
        transaction.set(letterKey(name, id), request);
      }
      return id;
    },
  };
}
