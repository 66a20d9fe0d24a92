/** What every commit of the mail area checks first. */
import type { Limits } from "../../base/config/limits.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { keysKey, type MailKey } from "../records/key_record.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import { requireLive, requireOpen, unknownKey } from "./authenticate_key.ts";

/**
 * The org that a job writes for: nothing is written for one that is gone, so that its erasure misses
 * nothing.
 * @throws RelayError `unknown_key`: with the org the caller's key has gone
 */
export function requireOrg(
  transaction: Transaction,
  orgId: string,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): OrgRecord {
  const org = transaction.record(orgKey(orgId));
  if (org === null || orgState(org, transaction.nowMs, limits) === "gone") throw unknownKey();
  return org;
}

/** The key that a commit is made for, and its org. */
export interface CallingKey {
  org: Pick<OrgRecord, "id">;
  key: Pick<MailKey, "id">;
}

/**
 * As requireOrg(), where the holder of a key asks for it: decides again in the commit what let the
 * request in. Bodies may be slow and mail takes long to compose, and who was shut out meanwhile
 * changes nothing any more.
 * @param expiredTrial whether what is asked takes the key of an expired trial
 * @throws RelayError `unknown_key`, `expired_key`, `trial_expired`, `org_suspended`
 */
export function requireCaller(
  transaction: Transaction,
  { org: { id: orgId }, key: { id: keyId } }: CallingKey,
  limits: Pick<Limits, "mailTrialPurgeDays">,
  { expiredTrial = false }: { expiredTrial?: boolean } = {},
): OrgRecord {
  const org = requireOrg(transaction, orgId, limits);
  const key = transaction.record(keysKey(orgId))?.keys.find(({ id }) => id === keyId);
  if (key === undefined) throw unknownKey();
  requireLive(key, transaction.nowMs);
  requireOpen(org, transaction.nowMs, limits, expiredTrial);
  return org;
}
