/** Where the bytes of blobs lie: what both forms of the blob store have in common. */
import type { Transaction } from "../storage/commits/job.ts";
import type { BlobName } from "./blob_name.ts";

/** Bytes that may belong to no record. */
export interface FoundBytes {
  name: BlobName;
  /** 0 where finding them does not tell. */
  sizeBytes: number;
}

export interface BlobBytes {
  /** Stores all sections, one after the other, durably. What a failure leaves is found by found(). */
  put(name: BlobName, sections: readonly Uint8Array[]): Promise<void>;
  /**
   * Reads so many bytes from an offset on.
   * @returns null where there is no such blob; fewer bytes where it ends early
   */
  get(name: BlobName, at: number, sizeBytes: number): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Deletes the bytes; that there are none is no error. */
  remove(found: FoundBytes): Promise<void>;
  /** Size as stored, null where there is none; undefined where the form cannot lose bytes alone. */
  sizeBytesOf?(name: BlobName): Promise<number | null>;
  /** What the commit that keeps a blob writes beside it. */
  onKeep?(transaction: Transaction, name: BlobName): void;
  /**
   * Walks through bytes that may belong to no record, at most 100 at a time.
   * @param sinceMs written since; bytes from before may be left out
   * @param isClosed whether nobody can be writing the blob any more
   */
  found(
    sinceMs: number,
    isClosed: (name: BlobName) => boolean,
  ): AsyncGenerator<readonly FoundBytes[]>;
}

/** Bytes one after the other, in a buffer of their own. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(bytesIn(parts));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export function bytesIn(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}
