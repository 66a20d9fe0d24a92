/** What a message or draft knows of the answer that told of it, under an Idempotency-Key. */
import type { BlobRef } from "../../blobs/blobs.ts";

export interface StoredAnswer {
  /** Of the record of its key: ["mail-idempotency", orgId, scope]. */
  scope: string;
  /** When nothing of it is left in the store, unix ms. */
  dueMs: number;
  /** Bytes in a row of the store; 0 where a blob has them. */
  rowBytes: number;
  blob: BlobRef | null;
  /** The draft that it told of; none where it told of a message. */
  draft?: { id: string; createdByKey: string; createdAtMs: number };
}
