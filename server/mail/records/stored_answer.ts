/** What a message or draft knows about the answer that showed it, under an Idempotency-Key. */
import type { BlobRef } from "../../base/blobs/blobs.ts";
import { type KeyUse, keyUses } from "../../base/idempotency/keyed_requests.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";

/** Requests under an Idempotency-Key. */
export const MAIL_KEYS = keyUses("mail-idempotency");

/** ["mail-idempotency", orgId, hash of key, method, path and value] */
export const useKey = defineRecord<KeyUse, [orgId: string, scope: string]>(
  ["mail-idempotency"],
  2,
  {
    holds: "a request that sends, under its Idempotency-Key: who works on it, then that it was " +
      'answered; the answer in a row under `"answer"` after it',
    expires: "24 h, then swept; of a reservation 60 s",
  },
);

export interface StoredAnswer {
  /** Names the record of its key: ["mail-idempotency", orgId, scope]. */
  scope: string;
  /** When nothing of it is left in the store by the wall clock, unix ms. */
  dueMs: number;
  /** What the store had lived when it was written, in ms; former versions wrote none. */
  livedMs?: number;
  /** Bytes in a row of the store; 0 where a blob has them. */
  rowBytes: number;
  blob: BlobRef | null;
  /** The draft that it showed; none where it showed a message. */
  draft?: { id: string; createdByKey: string; createdAtMs: number };
}
