/** Opens the storage of one relay in order: the store with its commits, records, ids and leases. */
import type { Clock } from "../deps.ts";
import { ClockStamp } from "./clock_stamp.ts";
import { GroupCommit } from "./group_commit.ts";
import { IdSequence } from "./id_sequence.ts";
import type { QueueBounds } from "./job_queue.ts";
import { openAddressKey, openLayout } from "./layout.ts";
import { Leases } from "./leases.ts";
import { PublicReads } from "./public_reads.ts";
import { RecordCache } from "./record_cache.ts";
import { requireAnswer } from "./require_answer.ts";
import { EMBEDDED_CAPACITY, KV_CONNECT_CAPACITY, type Store, type StoreCapacity } from "./store.ts";
import { type SlotTiming, WriterSlot } from "./writer_slot.ts";

export interface StorageOptions {
  kv: Deno.Kv;
  /** Several processes write this store. */
  shared: boolean;
  /** The store is reached over KV Connect. */
  hosted: boolean;
  now: Clock;
  random: Store["random"];
  /** Whether a clock behind the store's last use stops the start. */
  clockCheck: boolean;
  slotTiming?: SlotTiming;
  capacity?: StoreCapacity;
  queueBounds?: QueueBounds;
  /** Called for each write that the store failed. */
  onWriteFailure(failure: unknown): void;
}

export interface Storage {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  ids: IdSequence;
  leases: Leases;
  publicReads: PublicReads;
  /** Secret under which client addresses are hashed, 32 bytes. */
  addressKey: Uint8Array;
  /** A warning about the clock for the operator, null when there is none. */
  clockNote: string | null;
  everyMinute(): Promise<void>;
  /** Waits for the last commits and gives the writer slot back. */
  close(): Promise<void>;
}

/** @throws Error when the store is newer, its clock is ahead of ours, or no writer slot is free */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { kv, now, random, onWriteFailure } = options;
  const store: Store = {
    kv,
    exclusive: !options.shared,
    capacity: options.capacity ?? (options.hosted ? KV_CONNECT_CAPACITY : EMBEDDED_CAPACITY),
    now,
    random,
  };
  await requireAnswer(openLayout(kv));
  const clockStamp = new ClockStamp(kv, now);
  const clockNote = await clockStamp.open(options.clockCheck);
  const addressKey = await openAddressKey(kv, random);
  const records = new RecordCache(store);
  const slot = store.exclusive ? null : await WriterSlot.lease(store, options.slotTiming);
  try {
    const ids = await IdSequence.open(store, slot);
    const bounds = options.queueBounds;
    const commits = new GroupCommit({ store, records, ids, bounds, onFailure: onWriteFailure });
    return {
      store,
      records,
      commits,
      ids,
      leases: new Leases(store),
      publicReads: new PublicReads(store, records),
      addressKey,
      clockNote,
      everyMinute: () => clockStamp.refresh(),
      async close() {
        await commits.drained();
        await slot?.release();
      },
    };
  } catch (error) {
    await slot?.release();
    throw error;
  }
}
