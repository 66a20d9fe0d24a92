/**
 * How many bytes an org may keep (docs/api.md): raw mail, what parsing made of it, drafts and
 * stored answers, until they are swept.
 */
import { storageKey, type StorageRecord } from "../../base/blobs/stored_bytes.ts";
import { RelayError } from "../../base/errors.ts";
import type { Limits } from "../../base/config/limits.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import type { OrgRecord } from "../records/org_record.ts";

export { storageKey, type StorageRecord };

type StorageLimits = Pick<
  Limits,
  "mailStorageBytesPerOrg" | "mailStorageBytesPerTrial" | "mailStorageBytesFirstDay"
>;

/** What an org may keep now. Pure. */
export function storageQuota(
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

/** Whether so many bytes more are within an org's quota. Pure. */
export function fitsQuota(
  stored: StorageRecord | null,
  bytes: number,
  org: Pick<OrgRecord, "trialEndsAtMs" | "verifiedAtMs">,
  nowMs: number,
  limits: StorageLimits,
): boolean {
  return (stored?.bytes ?? 0) + bytes <= storageQuota(org, nowMs, limits);
}

/** A message that a sender may try again later, or write shorter. */
export function overQuota(): RelayError {
  return new RelayError(
    "unavailable",
    "the org has no room for this; delete messages (DELETE /v1/mail/messages/{id}), whose room is free an hour later, or try again then",
    { retryAfterMs: 60 * 60 * 1000 },
  );
}
