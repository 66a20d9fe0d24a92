/** What a message or draft knows about the answer that showed it, under an Idempotency-Key. */
import type { BlobRef } from "../../base/blobs/blobs.ts";
import { type KeyUse, keyUses } from "../../base/idempotency/keyed_requests.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";

/** Requests under an Idempotency-Key. */
export const MAIL_KEYS = keyUses("mail-idempotency");

/** ["mail-idempotency", orgId, hash of key, method, path and value] */
export const useKey = defineRecord<KeyUse, [orgId: string, scope: string]>([MAIL_KEYS.name], 2);

export interface StoredAnswer {
  /** Of the record of its key: ["mail-idempotency", orgId, scope]. */
  scope: string;
  /** When nothing of it is left in the store by the wall clock, unix ms. */
  dueMs: number;
  /** What the store had lived when it was written, in ms; none in those of former versions. */
  livedMs?: number;
  /** Bytes in a row of the store; 0 where a blob has them. */
  rowBytes: number;
  blob: BlobRef | null;
  /** The draft that it showed; none where it showed a message. */
  draft?: { id: string; createdByKey: string; createdAtMs: number };
}
