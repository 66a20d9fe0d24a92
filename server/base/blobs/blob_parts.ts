/**
 * Blobs as values of the store, where the disk is not the relay's own: parts of 60,000 bytes, a
 * dozen in a commit (docs/adr/0037).
 */
import type { Transaction } from "../storage/commits/job.ts";
import type { Store } from "../storage/rows/store.ts";
import type { BlobBytes, FoundBytes } from "./blob_bytes.ts";
import type { BlobName } from "./blob_name.ts";
import { defineRow } from "../storage/rows/row_key.ts";

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
    const sizeBytes = sections.reduce((sum, { length }) => sum + length, 0);
    const pending: PendingRow = { v: 1, sizeBytes };
    // Of its own, since it has to stand before the first part whatever is repeated.
    await this.store.transact((transaction) => transaction.set(pendingKey(...name), pending));
    let parts: Uint8Array[] = [];
    let first = 0;
    const flush = async () => {
      await this.store.transact((transaction) => {
        for (const [i, part] of parts.entries()) transaction.set(partKey(...name, first + i), part);
      });
      first += parts.length;
      parts = [];
    };
    for (const part of cut(sections)) {
      if (parts.push(part) === PARTS_A_WRITE) await flush();
    }
    if (parts.length > 0) await flush();
  }

  async get(
    name: BlobName,
    { at, sizeBytes }: { at: number; sizeBytes: number },
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    const first = Math.floor(at / PART_BYTES);
    const end = Math.ceil((at + sizeBytes) / PART_BYTES);
    const keys = Array.from({ length: end - first }, (_, i) => partKey(...name, first + i));
    const parts = (await this.store.getMany<Uint8Array[]>(keys)).map(({ value }) => value);
    const missing = parts.indexOf(null);
    const read = (missing < 0 ? parts : parts.slice(0, missing)) as Uint8Array[];
    if (read.length === 0 && end > first) return null;
    return join(read, at - first * PART_BYTES, sizeBytes);
  }

  async remove({ name, sizeBytes }: FoundBytes): Promise<void> {
    const parts = Math.ceil(sizeBytes / PART_BYTES);
    for (let n = 0; n < parts; n += PARTS_A_DELETION) {
      await this.store.transact((transaction) => {
        for (let i = n; i < Math.min(parts, n + PARTS_A_DELETION); i++) {
          transaction.delete(partKey(...name, i));
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
      const found = rows.map(({ key, value }) => ({
        name: key.slice(1) as string[],
        sizeBytes: value.sizeBytes,
      }));
      yield found.filter(({ name }) => isClosed(name));
    }
  }
}

/** Parts of all sections one after the other, each but the last of the same length. */
function* cut(sections: readonly Uint8Array[]): Generator<Uint8Array> {
  let part = new Uint8Array(PART_BYTES);
  let filled = 0;
  for (const section of sections) {
    for (let at = 0; at < section.length;) {
      const taken = section.subarray(at, at + PART_BYTES - filled);
      part.set(taken, filled);
      at += taken.length;
      filled += taken.length;
      if (filled < PART_BYTES) continue;
      yield part;
      part = new Uint8Array(PART_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield part.slice(0, filled);
}

/** So many bytes of parts from an offset on; fewer where they end before. */
function join(
  parts: readonly Uint8Array[],
  at: number,
  sizeBytes: number,
): Uint8Array<ArrayBuffer> {
  const there = parts.reduce((sum, { length }) => sum + length, 0);
  const bytes = new Uint8Array(Math.max(0, Math.min(sizeBytes, there - at)));
  let position = -at;
  for (const part of parts) {
    const from = Math.max(0, -position);
    const to = Math.min(part.length, bytes.length - position);
    if (to > from) bytes.set(part.subarray(from, to), position + from);
    position += part.length;
  }
  return bytes;
}
