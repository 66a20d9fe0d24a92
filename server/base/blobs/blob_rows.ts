/** What the store knows of blobs, wherever their bytes lie. */
import { defineRow } from "../storage/rows/row_key.ts";
import { HOUR_MS } from "../time/time_units.ts";
import type { BlobName } from "./blob_name.ts";

/** As long as a backup may take: its copy of the bytes has whatever its copy of the store names. */
export const DELETION_DELAY_MS = HOUR_MS;

/** The commit that deletes it subtracts its bytes, so that they are subtracted once. */
export interface BlobRow {
  v: 1;
  sizeBytes: number;
}

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

export const blobKey = defineRow<[...name: string[]]>(["blob"], Infinity, {
  holds: "size of a blob (folders and a ULID); stands from the commit that keeps it",
  expires: "until its bytes are gone, and are counted out",
});
export const blobNameOf = (key: Deno.KvKey): BlobName => key.slice(1) as string[];

export const deletionKey = defineRow<[dueMs: number, ...name: string[]]>(
  ["blob-deletion"],
  Infinity,
  {
    holds: "bytes that go then, unless the blob is kept by then: dropped ones, and ones that " +
      "were found without a record",
    expires: "until they are gone",
  },
);
export const deletedNameOf = (key: Deno.KvKey): BlobName => key.slice(2) as string[];
