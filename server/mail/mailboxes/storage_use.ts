/** How many bytes an org keeps: raw mail and what parsing made of it (mail page, "Limits"). */
import { RelayError } from "../../errors.ts";
import type { Limits } from "../../limits.ts";
import type { Turn } from "../../storage/job.ts";
import { defineRecord } from "../../storage/record_key.ts";
import { DAY_MS } from "../../time_units.ts";
import type { OrgRecord } from "../records/org_record.ts";

export interface StorageRecord {
  v: 1;
  bytes: number;
  /** Proves whose commit it was, for erasures, which write no other record. */
  attempt: string;
}

const storageRecord = defineRecord<StorageRecord, [orgId: string, what: "bytes"]>(
  ["mail-storage"],
  2,
);

/** ["mail-storage", orgId, "bytes"] */
export const storageKey = (orgId: string) => storageRecord(orgId, "bytes");

type StorageLimits = Pick<
  Limits,
  "mailStorageBytesPerOrg" | "mailStorageBytesPerTrial" | "mailStorageBytesFirstDay"
>;

/** What an org may keep now. Pure. */
export function storageLimit(
  org: Pick<OrgRecord, "trialEndsAtMs" | "verifiedAtMs">,
  nowMs: number,
  limits: StorageLimits,
): number {
  if (org.trialEndsAtMs !== null) return limits.mailStorageBytesPerTrial;
  const isNew = org.verifiedAtMs !== null && nowMs - org.verifiedAtMs < DAY_MS;
  return isNew
    ? Math.min(limits.mailStorageBytesFirstDay, limits.mailStorageBytesPerOrg)
    : limits.mailStorageBytesPerOrg;
}

/** Whether an org has room for so many bytes more. Pure. */
export function hasRoom(
  stored: StorageRecord | null,
  bytes: number,
  org: Pick<OrgRecord, "trialEndsAtMs" | "verifiedAtMs">,
  nowMs: number,
  limits: StorageLimits,
): boolean {
  return (stored?.bytes ?? 0) + bytes <= storageLimit(org, nowMs, limits);
}

/** Counts bytes in or out, in a job that names the org's record of storage. */
export function countStorage(turn: Turn, orgId: string, bytes: number): void {
  const key = storageKey(orgId);
  const before = turn.record(key)?.bytes ?? 0;
  turn.putRecord(key, { v: 1, bytes: Math.max(0, before + bytes), attempt: turn.attempt });
}

/** A message that a sender may try again later, or write shorter. */
export function overQuota(): RelayError {
  return new RelayError(
    "unavailable",
    "the org has no room for this message; delete messages (DELETE /v1/mail/messages/{id}), or try again later",
    { retryAfterMs: 60 * 60 * 1000 },
  );
}
