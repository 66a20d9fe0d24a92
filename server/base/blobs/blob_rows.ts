/** What the store knows of blobs, wherever their bytes lie. */
import type { BlobName } from "./blob_name.ts";

/**
 * ["blob", ...name]: stands from the commit that keeps the blob until its bytes are gone. Whoever
 * deletes it counts the bytes out, so that they are counted out once.
 */
export interface BlobRow {
  v: 1;
  sizeBytes: number;
}

/** ["blob-deletion", dueMs, ...name]: bytes that go then, unless the blob is kept by then. */
export interface DeletionRow {
  v: 1;
  /** 0 where it is not known: a file's name does not tell. */
  sizeBytes: number;
  /** Found without a record, not dropped: it may be that its commit is yet to come. */
  orphan: boolean;
  /**
   * Dropped by a commit, and its bytes go whatever stands in ["blob", ...name]. Without it, in rows of
   * a former version too, they were counted out already, or never in.
   */
  dropped?: true;
}

const BLOB = "blob";
const DELETION = "blob-deletion";

export const blobKey = (name: BlobName): Deno.KvKey => [BLOB, ...name];
export const blobNameOf = (key: Deno.KvKey): BlobName => key.slice(1) as string[];

export const deletionKey = (
  dueMs: number,
  name: BlobName,
): Deno.KvKey => [DELETION, dueMs, ...name];

/** Due time and blob of a row of the deletion index. */
export function deletionOf(key: Deno.KvKey): { dueMs: number; name: BlobName } {
  return { dueMs: key[1] as number, name: key.slice(2) as string[] };
}
