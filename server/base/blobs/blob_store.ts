/** The blob store over either form: names, hashes, the rows that keep blobs, and what callers are told. */
import type { Log } from "../log.ts";
import { RelayError } from "../errors.ts";
import { logSparsely } from "../log_sparsely.ts";
import { BoundedMap } from "../bounds/bounded_map.ts";
import type { FreeDisk } from "../storage/free_disk.ts";
import type { Transaction } from "../storage/commits/job.ts";
import type { RecordCache } from "../storage/commits/record_cache.ts";
import { Semaphore } from "../bounds/semaphore.ts";
import type { Store } from "../storage/rows/store.ts";
import { makeUlid } from "../storage/rows/ulid.ts";
import type { BlobBytes } from "./blob_bytes.ts";
import { BlobDamaged, type Damage } from "./blob_damaged.ts";
import { type BlobName, nameText, requireFolder, requireName } from "./blob_name.ts";
import { blobKey, blobNameOf, type BlobRow, deletionKey, type DeletionRow } from "./blob_rows.ts";
import type { BlobRef, Blobs, BlobSection } from "./blobs.ts";
import { DELETION_DELAY_MS } from "./deletions.ts";
import type { RecentWrites } from "./recent_writes.ts";
import { SectionHashes } from "./section_hashes.ts";
import { countStorage, storageKey, type StorageRecord, sweepsIn } from "./stored_bytes.ts";

/** At one time: an fsync takes a thread of a pool that everything else uses too. */
const LARGE_WRITES = 4;
/** Small ones that come together are written together (blob_writer.ts). */
const SMALL_WRITES = 32;
/** Bytes up to which a blob is a small one. */
const SMALL_BYTES = 256 * 1024;
const READS = 8;
const MAX_WAITING = 1_000;
const DROPS_A_COMMIT = 100;
/** Damaged blobs that the log has already named. */
const TOLD_DAMAGES = 1_000;
const SOON_MS = 1_000;
const DISK_RETRY_MS = 60_000;

export interface BlobStoreOptions {
  store: Store;
  records: Pick<RecordCache, "read">;
  bytes: BlobBytes;
  recent: RecentWrites;
  freeDisk: FreeDisk;
  log: Log;
}

export class BlobStore implements Blobs {
  readonly #largeWrites = bounded(LARGE_WRITES);
  readonly #smallWrites = bounded(SMALL_WRITES);
  readonly #reads = bounded(READS);
  readonly #hashes = new SectionHashes();
  readonly #toldDamages = new BoundedMap<string, true>(TOLD_DAMAGES);
  readonly #writeFailed: (failure: unknown) => void;
  readonly #readFailed: (failure: unknown) => void;

  constructor(private readonly options: BlobStoreOptions) {
    this.#writeFailed = logSparsely(options.log, "blob_write_failed");
    this.#readFailed = logSparsely(options.log, "blob_read_failed");
  }

  refuseWhenFull(): Promise<void> {
    return this.options.freeDisk.refuseWhenFull();
  }

  async write(
    folder: readonly string[],
    sections: readonly Uint8Array[],
    known: readonly string[] = [],
  ): Promise<BlobRef> {
    const { store, records, recent } = this.options;
    requireFolder(folder);
    store.clock.requireSure(); // the commit that would keep it is refused
    const name: BlobName = [...folder, makeUlid(store.now(), store.random)];
    requireName(name);
    const isSmall = sections.reduce((sum, { length }) => sum + length, 0) <= SMALL_BYTES;
    const writes = isSmall ? this.#smallWrites : this.#largeWrites;
    return await writes.run(async () => {
      // Both before there is anything that a sweep could find.
      recent.add(name, sweepsIn(await records.read<StorageRecord>(storageKey(folder[0]!))));
      const [stored, hashed] = await Promise.allSettled([
        this.options.bytes.put(name, sections),
        this.#hashAll(sections, known),
      ]);
      if (stored.status === "fulfilled" && hashed.status === "fulfilled") {
        return { name, sections: hashed.value };
      }
      recent.giveUp(name);
      const failure = stored.status === "rejected"
        ? stored.reason
        : (hashed as PromiseRejectedResult).reason;
      this.#writeFailed(failure);
      throw new RelayError(
        "unavailable",
        "the relay could not store this: nothing of it was kept, send it again in a minute",
        { retryAfterMs: DISK_RETRY_MS, cause: failure },
      );
    });
  }

  async #hashAll(
    sections: readonly Uint8Array[],
    known: readonly string[],
  ): Promise<BlobSection[]> {
    const hashed: BlobSection[] = [];
    for (const [i, bytes] of sections.entries()) {
      hashed.push({ sizeBytes: bytes.length, sha256: known[i] ?? await this.#hashes.of(bytes) });
    }
    return hashed;
  }

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

  drop(transaction: Transaction, ref: BlobRef, isCounted = true): void {
    if (!isCounted) transaction.delete(blobKey(...ref.name));
    const row: DeletionRow = {
      v: 1,
      sizeBytes: sizeBytesOf(ref),
      orphan: false,
      ...(isCounted ? { dropped: true } : {}),
    };
    transaction.set(deletionKey(transaction.nowMs + DELETION_DELAY_MS, ...ref.name), row);
  }

  async discard(ref: BlobRef): Promise<void> {
    const { store, recent, bytes } = this.options;
    // A planned commit may still come to the store, though its caller has heard 503.
    if (recent.stateOf(ref.name) !== "written") return;
    recent.giveUp(ref.name);
    try {
      const row = await store.get(blobKey(...ref.name));
      if (row.value === null) await bytes.remove({ name: ref.name, sizeBytes: sizeBytesOf(ref) });
    } catch (failure) {
      this.#writeFailed(failure); // the sweep comes
    }
  }

  async read(ref: BlobRef, section: number): Promise<Uint8Array<ArrayBuffer>> {
    const asked = ref.sections[section];
    if (asked === undefined) throw new RangeError(`the blob has no section ${section}`);
    const at = ref.sections.slice(0, section).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    return await this.#reads.run(async () => {
      const bytes = await this.#bytesOf(ref.name, { at, sizeBytes: asked.sizeBytes });
      if (bytes === null) throw this.#damaged(ref.name, "missing");
      if (bytes.length < asked.sizeBytes) throw this.#damaged(ref.name, "short");
      if (await this.#hashes.of(bytes) !== asked.sha256) throw this.#damaged(ref.name, "changed");
      return bytes;
    });
  }

  async #bytesOf(
    name: BlobName,
    range: { at: number; sizeBytes: number },
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      return await this.options.bytes.get(name, range);
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

  async dropSome(folder: readonly string[]): Promise<boolean> {
    requireFolder(folder);
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

function sizeBytesOf({ sections }: BlobRef): number {
  return sections.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
