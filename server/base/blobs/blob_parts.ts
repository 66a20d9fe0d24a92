/**
 * Blobs as values of the store, where the disk is not the relay's own: parts of 60,000 bytes, a
 * dozen in a commit (docs/adr/0037).
 */
import type { Transaction } from "../storage/commits/job.ts";
import { defineRow } from "../storage/rows/row_key.ts";
import type { Store } from "../storage/rows/store.ts";
import { type BlobBytes, bytesIn, type FoundBytes, joinBytes } from "./blob_bytes.ts";
import type { BlobName } from "./blob_name.ts";

interface PendingRow {
  v: 1;
  sizeBytes: number;
}

/** Below the 65,536 bytes that a value may have. */
const PART_BYTES = 60_000;
/** Below the 819,200 bytes of a commit, keys included. */
const PARTS_A_WRITE = 12;
/** Their keys stay below the 81,920 bytes that those of a commit may have. */
const PARTS_A_DELETION = 200;
const BATCH = 100;

const pendingKey = defineRow<[...name: string[]]>(["blob-pending"], Infinity, {
  holds: "hosted stores: a blob that is written, from before its first part",
  expires: "until a commit keeps it",
});
const partKey = defineRow<[...name: string[], n: number]>(["blob-part"], Infinity, {
  holds: "hosted stores: bytes of a blob (60,000 each)",
  expires: "with the blob",
});

export class BlobParts implements BlobBytes {
  constructor(private readonly store: Store) {}

  async put(name: BlobName, sections: readonly Uint8Array[]): Promise<void> {
    const sizeBytes = bytesIn(sections);
    // Of its own, since it has to stand before the first part whatever is repeated.
    await this.store.transact((transaction) =>
      transaction.set(pendingKey(...name), { v: 1, sizeBytes } satisfies PendingRow)
    );
    const count = Math.ceil(sizeBytes / PART_BYTES);
    for (let first = 0; first < count; first += PARTS_A_WRITE) {
      await this.store.transact((transaction) => {
        for (let n = first; n < Math.min(count, first + PARTS_A_WRITE); n++) {
          transaction.set(partKey(...name, n), rangeOf(sections, n * PART_BYTES, PART_BYTES));
        }
      });
    }
  }

  async get(
    name: BlobName,
    at: number,
    sizeBytes: number,
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    const first = Math.floor(at / PART_BYTES);
    const end = Math.ceil((at + sizeBytes) / PART_BYTES);
    const keys = Array.from({ length: end - first }, (_, i) => partKey(...name, first + i));
    const parts = (await this.store.getMany<Uint8Array[]>(keys)).map(({ value }) => value);
    const missing = parts.indexOf(null);
    if (missing === 0) return null;
    const read = (missing < 0 ? parts : parts.slice(0, missing)) as Uint8Array[];
    return rangeOf(read, at - first * PART_BYTES, sizeBytes);
  }

  async remove({ name, sizeBytes }: FoundBytes): Promise<void> {
    const count = Math.ceil(sizeBytes / PART_BYTES);
    for (let first = 0; first < count; first += PARTS_A_DELETION) {
      await this.store.transact((transaction) => {
        for (let n = first; n < Math.min(count, first + PARTS_A_DELETION); n++) {
          transaction.delete(partKey(...name, n));
        }
      });
    }
    await this.store.transact((transaction) => transaction.delete(pendingKey(...name)));
  }

  onKeep(transaction: Transaction, name: BlobName): void {
    transaction.delete(pendingKey(...name));
  }

  /** All of them each time: those that were kept are not among them. */
  async *found(
    _sinceMs: number,
    isClosed: (name: BlobName) => boolean,
  ): AsyncGenerator<readonly FoundBytes[]> {
    const pending = this.store.batches<PendingRow>({ prefix: pendingKey.under() }, {
      batchSize: BATCH,
    });
    for await (const rows of pending) {
      yield rows
        .map(({ key, value: { sizeBytes } }) => ({ name: key.slice(1) as string[], sizeBytes }))
        .filter(({ name }) => isClosed(name));
    }
  }
}

/** So many bytes from an offset on, of parts that follow each other; fewer where they end before. */
function rangeOf(
  parts: readonly Uint8Array[],
  at: number,
  sizeBytes: number,
): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  let position = 0;
  for (const part of parts) {
    const [from, end] = [at - position, at - position + sizeBytes];
    pieces.push(part.subarray(Math.max(0, from), Math.max(0, end)));
    position += part.length;
  }
  return joinBytes(pieces);
}
