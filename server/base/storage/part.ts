/** Opens the storage of one relay in order: the store with its commits, records, ids and leases. */
import type { Config } from "../config/config.ts";
import type { Clock } from "../time/clock.ts";
import type { Log } from "../log.ts";
import { logSparsely } from "../log_sparsely.ts";
import type { StartTicker } from "../time/ticker.ts";
import { startupNote } from "../config/startup_notes.ts";
import type { Backend } from "./rows/backend.ts";
import { type ClockTiming, ClockWatch } from "./rows/clock_watch.ts";
import { FreeDisk, type MeasureFreeBytes } from "./free_disk.ts";
import { GroupCommit } from "./commits/group_commit.ts";
import { IdSequence } from "./commits/id_sequence.ts";
import { endJournal } from "./journal/end_journal.ts";
import { Journal, type JournalBounds } from "./journal/journal.ts";
import type { QueueBounds } from "./commits/job_queue.ts";
import { openAddressKey, openLayout } from "./rows/layout.ts";
import type { LeaseTiming } from "./leases/lease.ts";
import { Leases } from "./leases/leases.ts";
import { PublicReads } from "./commits/public_reads.ts";
import { RecordCache } from "./commits/record_cache.ts";
import { isFloorKnown } from "./leases/known_floor.ts";
import { requireAnswer } from "./rows/require_answer.ts";
import {
  createStore,
  EMBEDDED_CAPACITY,
  KV_CONNECT_CAPACITY,
  type Store,
  type StoreCapacity,
} from "./rows/store.ts";
import { StoreTime } from "./rows/store_time.ts";
import { SLOT_TIMING, WriterSlot } from "./leases/writer_slot.ts";

/** How often the clocks are compared where nothing asks. */
const TICK_MS = 1_000;

export interface StorageOptions {
  /** Free bytes on the store's disk; none where the store is not on a disk of ours. */
  measureFreeBytes?: MeasureFreeBytes;
  slotTiming?: LeaseTiming;
  clockTiming?: ClockTiming;
  capacity?: StoreCapacity;
  queueBounds?: QueueBounds;
  journalBounds?: JournalBounds;
  /** The ticker that counts the seconds of deadlines of store calls; the usual one unless given. */
  startTicker?: StartTicker;
  /** Called with each write that the store failed. */
  onWriteFailure?: (failure: unknown) => unknown;
}

/** What a store is opened over; Deps has it. */
export interface StorageDeps {
  config: Config;
  backend: Backend;
  now: Clock;
  elapsed: Clock;
  random: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
  log: Log;
}

export interface Storage {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  ids: IdSequence;
  leases: Leases;
  publicReads: PublicReads;
  freeDisk: FreeDisk;
  /** Whether every process that may commit knows the floor of this version, or a newer one. */
  isFloorKnown: (version: string) => Promise<boolean>;
  /** Secret under which client addresses are hashed, 32 bytes. */
  addressKey: Uint8Array;
  /** What start-up prints of it. */
  notes: readonly string[];
  /** Waits for the last commits, ends the journal, and gives the writer slot back. */
  close(): Promise<void>;
}

/** @throws Error when the store is newer, its clock is ahead of ours, or no writer slot is free */
export async function openStorage(
  { config, backend, now, elapsed, random, log }: StorageDeps,
  options: StorageOptions,
): Promise<Storage> {
  const check = config.clockCheck;
  const clock = new ClockWatch({ now, elapsed, log, check, timing: options.clockTiming });
  const logReadFailure = logSparsely(log, "store_read_failed");
  const logWriteFailure = logSparsely(log, "store_write_failed");
  const onFailure = (failure: unknown) => {
    logWriteFailure(failure);
    options.onWriteFailure?.(failure);
  };
  await requireAnswer(openLayout(backend, !config.sharedStore));
  const capacity = options.capacity ??
    (config.hosted ? KV_CONNECT_CAPACITY : EMBEDDED_CAPACITY);
  // As long as it takes: what it does is not done again, however often a start is ended.
  const ended = config.sharedStore ? await endJournal(backend, capacity, Date.now()) : 0;
  const journal = config.sharedStore
    ? null
    : await Journal.open(backend, { random, bounds: options.journalBounds, onFailure });
  const replayed = journal?.replayed ?? ended;
  const store = createStore({
    backend: journal ?? backend,
    exclusive: !config.sharedStore,
    capacity,
    now: () => clock.nowMs,
    elapsed,
    clock,
    lived: () => time.livedMs,
    random,
    startTicker: options.startTicker,
    onSilence: (isSilent) => log(isSilent ? "store_silent" : "store_answers"),
    onFailure: (failure, isRead) => isRead ? logReadFailure(failure) : onFailure(failure),
  });
  const time = new StoreTime(store);
  const clockNotes = [await time.open(check), await store.floor.open(now(), check)];
  const addressKey = await openAddressKey(store, random);
  const records = new RecordCache(store);
  const slotTiming = options.slotTiming ?? SLOT_TIMING;
  const slot = store.exclusive ? null : await WriterSlot.lease(store, slotTiming);
  try {
    const ids = await IdSequence.open(store, slot);
    const bounds = options.queueBounds;
    const onUnheard = logSparsely(log, "commit_listener_failed");
    const commits = new GroupCommit({ store, records, ids, bounds, onFailure, onUnheard });
    const { minFreeDiskBytes } = config.limits;
    const freeDisk = new FreeDisk(options.measureFreeBytes ?? null, minFreeDiskBytes);
    await freeDisk.refresh();
    const logTimeFailure = logSparsely(log, "store_time_failed");
    const tick = setInterval(() => {
      clock.observe();
      time.refresh().catch(logTimeFailure);
    }, TICK_MS);
    return {
      store,
      records,
      commits,
      ids,
      leases: new Leases(store),
      publicReads: new PublicReads(store, records),
      freeDisk,
      async isFloorKnown(version) {
        if (slot === null) return true;
        await slot.renew();
        return await isFloorKnown(store, version, slotTiming);
      },
      addressKey,
      notes: [
        ...clockNotes.filter((note) => note !== null).map((note) => startupNote("clock", note)),
        ...(ids.note === null ? [] : [startupNote("ids", ids.note)]),
        ...(replayed === 0 ? [] : [startupNote("journal", replayedText(replayed))]),
      ],
      async close() {
        clearInterval(tick);
        await commits.drained();
        await time.close().catch(logTimeFailure);
        await slot?.release();
        await journal?.close();
      },
    };
  } catch (error) {
    await slot?.release();
    throw error;
  }
}

function replayedText(rows: number): string {
  return `${rows.toLocaleString("en")} rows that the relay before had left in it were taken in`;
}
