/**
 * Large immutable bytes beside the store. A blob is written once, before the commit that names it;
 * one that no commit has kept within an hour is swept. It is made of sections, each of which is read
 * and checked by itself. This is what callers see of it, over either form of its bytes.
 */
import { base64urlnopad } from "@scure/base";
import { BoundedMap } from "../bounds/bounded_map.ts";
import { Semaphore } from "../bounds/semaphore.ts";
import { RelayError } from "../errors.ts";
import type { Log } from "../log.ts";
import { logSparsely } from "../log_sparsely.ts";
import { sha256Of } from "../slices/sha256_of.ts";
import type { Transaction } from "../storage/commits/job.ts";
import type { RecordCache } from "../storage/commits/record_cache.ts";
import type { FreeDisk } from "../storage/free_disk.ts";
import type { Store } from "../storage/rows/store.ts";
import { makeUlid } from "../storage/rows/ulid.ts";
import { type BlobBytes, bytesIn } from "./blob_bytes.ts";
import { type BlobName, nameText, requireName } from "./blob_name.ts";
import {
  blobKey,
  blobNameOf,
  type BlobRow,
  DELETION_DELAY_MS,
  deletionKey,
  type DeletionRow,
} from "./blob_rows.ts";
import { LentBytes } from "./lent_bytes.ts";
import type { RecentWrites } from "./recent_writes.ts";
import { countStorage, storageKey, type StorageRecord, sweepsIn } from "./stored_bytes.ts";

/** A part of a blob. */
export interface BlobSection {
  sizeBytes: number;
  /** SHA-256 of the bytes, base64url without padding. */
  sha256: string;
}

/** What a record keeps of a blob; plain data of some 100 bytes a section. */
export interface BlobRef {
  /** Folders and a name of its own, each of [A-Za-z0-9_-]{1,64}. */
  name: readonly string[];
  sections: readonly BlobSection[];
}

/** What is wrong with stored bytes. */
export type Damage = "missing" | "short" | "changed";

/**
 * Stored bytes that are not what was stored: a 500 `internal` for the object that they belong to, and
 * for nothing else.
 */
export class BlobDamaged extends RelayError {
  /** @param blob its name, as the store and the log have it */
  constructor(readonly blob: readonly string[], readonly damage: Damage) {
    super(
      "internal",
      "what the relay stored of this object is damaged or missing on its disk; its operator is told, " +
        "everything else can be read, and asking again does not help",
    );
  }
}

/** At one time: an fsync takes a thread of a pool that everything else uses too. */
const LARGE_WRITES = 4;
/** Small ones that come together are written together (blob_writer.ts). */
const SMALL_WRITES = 32;
/** Bytes up to which a blob is a small one. */
const SMALL_BYTES = 256 * 1024;
const READS = 8;
const MAX_WAITING = 1_000;
/** Bytes that are hashed in one turn of the event loop, or two. */
const HASHED_AT_ONCE_BYTES = 2 ** 20;
const DROPS_A_COMMIT = 100;
/** Damaged blobs that the log has already named. */
const TOLD_DAMAGES = 1_000;
const SOON_MS = 1_000;
const DISK_RETRY_MS = 60_000;

export interface BlobsOptions {
  store: Store;
  records: Pick<RecordCache, "read">;
  bytes: BlobBytes;
  recent: RecentWrites;
  freeDisk: FreeDisk;
  log: Log;
}

export class Blobs {
  readonly #largeWrites = bounded(LARGE_WRITES);
  readonly #smallWrites = bounded(SMALL_WRITES);
  readonly #reads = bounded(READS);
  /** Large sections are hashed one after the other, so that their slices do not come together. */
  readonly #largeHashes = new Semaphore({ permits: 1 });
  readonly #lent = new LentBytes();
  readonly #toldDamages = new BoundedMap<string, true>(TOLD_DAMAGES);
  readonly #writeFailed: (failure: unknown) => void;
  readonly #readFailed: (failure: unknown) => void;

  constructor(private readonly options: BlobsOptions) {
    this.#writeFailed = logSparsely(options.log, "blob_write_failed");
    this.#readFailed = logSparsely(options.log, "blob_read_failed");
  }

  /** @throws RelayError `unavailable` with Retry-After while the disk has less free than mailMinFreeDiskBytes */
  refuseWhenFull(): Promise<void> {
    return this.options.freeDisk.refuseWhenFull();
  }

  /**
   * Stores bytes durably under a new name. Until keep() is committed nothing but the sweep knows them.
   * @param folder whose it is, from the widest: an org, then an inbox
   * @param known SHA-256 of the first sections, base64url, where the caller has hashed them already
   * @throws RelayError `unavailable` when the disk has no room
   */
  async write(
    folder: readonly string[],
    sections: readonly Uint8Array[],
    known: readonly string[] = [],
  ): Promise<BlobRef> {
    const { store, records, recent, bytes } = this.options;
    store.clock.requireSure(); // the commit that would keep it is refused
    const name: BlobName = [...folder, makeUlid(store.now(), store.random)];
    requireName(name);
    const writes = bytesIn(sections) <= SMALL_BYTES ? this.#smallWrites : this.#largeWrites;
    return await writes.run(async () => {
      // Both before there is anything that a sweep could find.
      recent.add(name, sweepsIn(await records.read<StorageRecord>(storageKey(folder[0]!))));
      try {
        const [hashed] = await Promise.all([
          Promise.all(sections.map((section, i) => this.#describe(section, known[i]))),
          bytes.put(name, sections),
        ]);
        return { name, sections: hashed };
      } catch (failure) {
        this.#writeFailed(failure);
        throw new RelayError(
          "unavailable",
          "the relay could not store this: nothing of it was kept, send it again in a minute",
          { retryAfterMs: DISK_RETRY_MS, cause: failure },
        );
      }
    });
  }

  async #describe(bytes: Uint8Array, known?: string): Promise<BlobSection> {
    return { sizeBytes: bytes.length, sha256: known ?? await this.#hash(bytes) };
  }

  /** @returns SHA-256, base64url without padding */
  async #hash(bytes: Uint8Array): Promise<string> {
    const hash = bytes.length <= HASHED_AT_ONCE_BYTES
      ? await sha256Of(bytes)
      : await this.#largeHashes.run(() => sha256Of(bytes));
    return base64urlnopad.encode(hash);
  }

  /**
   * In the commit of the record that names it: the blob stays, and counts among the bytes of its owner
   * (stored_bytes.ts). Only what this process wrote within the last ten minutes can be kept, by the wall
   * clock and by the monotonic one.
   * @throws RelayError `unavailable` for what was written longer ago by either, or given up
   */
  keep(transaction: Transaction, ref: BlobRef): void {
    const { recent, bytes } = this.options;
    const owner = ref.name[0]!;
    if (!recent.plan(ref.name, sweepsIn(transaction.record(storageKey(owner))))) {
      throw new RelayError(
        "unavailable",
        "this took too long between its first and its last step: nothing was kept, send it again",
        { retryAfterMs: SOON_MS },
      );
    }
    const sizeBytes = sizeBytesOf(ref);
    transaction.set(blobKey(...ref.name), { v: 1, sizeBytes } satisfies BlobRow);
    countStorage(transaction, owner, sizeBytes);
    bytes.onKeep?.(transaction, ref.name);
  }

  /**
   * In the commit that takes the record away: the blob goes, an hour later at the soonest, and counts
   * until then.
   * @param isCounted false for one that a former version kept without counting it
   */
  drop(transaction: Transaction, ref: BlobRef, isCounted = true): void {
    if (!isCounted) transaction.delete(blobKey(...ref.name));
    const row: DeletionRow = { v: 1, sizeBytes: sizeBytesOf(ref), orphan: false };
    if (isCounted) row.dropped = true;
    transaction.set(deletionKey(transaction.nowMs + DELETION_DELAY_MS, ...ref.name), row);
  }

  /**
   * Gives up a blob that was written and will not be kept; failing is no harm, the sweep comes. A blob
   * that a plan has kept is left to the sweep: its commit may still come though its caller heard 503.
   */
  async discard(ref: BlobRef): Promise<void> {
    const { recent, bytes } = this.options;
    // A planned commit may still come to the store, though its caller has heard 503.
    if (!recent.giveUp(ref.name)) return;
    try {
      await bytes.remove({ name: ref.name, sizeBytes: sizeBytesOf(ref) });
    } catch (failure) {
      this.#writeFailed(failure); // the sweep comes
    }
  }

  /**
   * Leaves a section in memory for those who are to read it next, so many times; 0 takes it back.
   * @param bytes not to be changed any more
   */
  lend(ref: BlobRef, section: number, bytes: Uint8Array<ArrayBuffer>, times: number): void {
    this.#lent.lend(lentName(ref, section), bytes, times);
  }

  /**
   * The bytes of one section, checked against their hash.
   * @param isLent whether they may be those that lend() left in memory
   * @throws BlobDamaged when they are missing, short or other than they were; logged once a blob
   */
  async read(
    ref: BlobRef,
    section: number,
    { isLent = false } = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const asked = ref.sections[section];
    if (asked === undefined) throw new RangeError(`the blob has no section ${section}`);
    const lent = isLent ? this.#lent.take(lentName(ref, section)) : null;
    if (lent !== null) return lent;
    const at = ref.sections.slice(0, section).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    return await this.#reads.run(async () => {
      const bytes = await this.#bytesOf(ref.name, at, asked.sizeBytes);
      if (bytes === null) throw this.#damaged(ref.name, "missing");
      if (bytes.length < asked.sizeBytes) throw this.#damaged(ref.name, "short");
      if (await this.#hash(bytes) !== asked.sha256) throw this.#damaged(ref.name, "changed");
      return bytes;
    });
  }

  async #bytesOf(name: BlobName, at: number, sizeBytes: number) {
    try {
      return await this.options.bytes.get(name, at, sizeBytes);
    } catch (failure) {
      this.#readFailed(failure);
      throw new RelayError(
        "unavailable",
        "the relay could not read what it stored of this object: ask again in a minute",
        { retryAfterMs: DISK_RETRY_MS, cause: failure },
      );
    }
  }

  /** Told once a blob, however often it is asked for. */
  #damaged(name: BlobName, damage: Damage): BlobDamaged {
    const text = nameText(name);
    if (this.#toldDamages.get(text) === undefined) {
      this.#toldDamages.set(text, true);
      this.options.log("blob_damaged", { blob: text, damage });
    }
    return new BlobDamaged(name, damage);
  }

  /**
   * One commit of a sweep that drops every kept blob in a folder, for owners that are gone: nothing is
   * counted any more.
   * @returns whether there may be more
   */
  async dropSome(folder: readonly string[]): Promise<boolean> {
    if (folder.length === 0) throw new TypeError("a folder has an owner");
    const { store } = this.options;
    const rows = await store.list<BlobRow>({ prefix: blobKey.under(...folder) }, {
      limit: DROPS_A_COMMIT,
    });
    if (rows.length === 0) return false;
    const dueMs = store.now() + DELETION_DELAY_MS;
    await store.transact((transaction) => {
      for (const { key, value: { sizeBytes } } of rows) {
        const row: DeletionRow = { v: 1, sizeBytes, orphan: false };
        transaction.delete(key);
        transaction.set(deletionKey(dueMs, ...blobNameOf(key)), row);
      }
    });
    return rows.length === DROPS_A_COMMIT;
  }
}

function bounded(permits: number): Semaphore {
  return new Semaphore({
    permits,
    maxWaiting: MAX_WAITING,
    refusal: () =>
      new RelayError("unavailable", "too much waits for the relay's disk: try again", {
        retryAfterMs: SOON_MS,
      }),
  });
}

const lentName = ({ name }: BlobRef, section: number) => `${nameText(name)} ${section}`;
function sizeBytesOf({ sections }: BlobRef): number {
  return sections.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
