/** Commits that change an org as a whole: its deletion, and what its operator decides. */
import { RelayError } from "../../base/errors.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { type CallingKey, requireCaller } from "../access/require_org.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { keysKey } from "../records/key_record.ts";
import { isMailId } from "../records/mail_id.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import { emailOrgKey } from "../records/verified_email.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

export interface ErasureRow {
  v: 1;
  sinceMs: number;
  /** Hashes of the keys that it had; the sweep has yet to erase their rows. */
  keyHashes: readonly string[];
}
export const erasureKey = defineRow<[orgId: string]>(["mail-erasure"], 1, {
  holds: "stands while something is left of an org that is gone; hashes of its keys",
});

/** Hides an org and kills its keys, deleted or purged; a sweep erases the rest. */
export function stageErasure(transaction: Transaction, org: OrgRecord): OrgRecord {
  const { id, verifiedEmail } = org;
  const { nowMs } = transaction;
  const gone: OrgRecord = { ...org, deletedAtMs: nowMs };
  const { keys = [], dropped = [] } = transaction.record(keysKey(id)) ?? {};
  const keyHashes = [...keys.map(({ hash }) => hash), ...dropped];
  transaction.putRecord(orgKey(id), gone);
  if (verifiedEmail !== null) transaction.delete(emailOrgKey(verifiedEmail, id));
  transaction.putRecord(keysKey(id), null);
  transaction.set(erasureKey(id), { v: 1, sinceMs: nowMs, keyHashes } satisfies ErasureRow);
  return gone;
}

/**
 * Deletes an org: one commit hides it and kills its keys, and a sweep erases what is left of it.
 * Deleting it again does nothing, and gives null.
 * @throws RelayError as requireCaller()
 */
export async function deleteOrg(
  { commits, limits }: Pick<MailCore, "commits" | "limits">,
  caller: CallingKey,
): Promise<OrgRecord | null> {
  return await commits.submit((transaction) => {
    const org = transaction.record(orgKey(caller.org.id));
    if (org === null || org.deletedAtMs !== null) return null;
    return stageErasure(transaction, requireCaller(transaction, caller, limits));
  });
}

/**
 * Suspends an org or lifts the suspension; repeating either changes nothing.
 * @param reason of a suspension, for the operator alone
 * @throws RelayError `not_found` for an org that is none, or none any more
 */
export async function setSuspended(
  { commits, limits }: Pick<MailCore, "commits" | "limits">,
  orgId: string,
  suspended: boolean,
  reason: string | null = null,
): Promise<void> {
  await commits.submit((transaction) => {
    const org = transaction.record(orgKey(orgId));
    if (org === null || orgState(org, transaction.nowMs, limits) === "gone") throw unknownOrg();
    if ((org.suspendedAtMs !== null) === suspended) return;
    const { suspendedReason: _, ...kept } = org;
    transaction.putRecord(orgKey(orgId), {
      ...kept,
      suspendedAtMs: suspended ? transaction.nowMs : null,
      ...(reason === null ? {} : { suspendedReason: reason }),
    });
  });
}

/** @throws RelayError `not_found` for an org that is none, or none any more */
export async function requireStanding(
  { records, limits, now }: Pick<MailCore, "records" | "limits" | "now">,
  orgId: string,
): Promise<void> {
  const org = isMailId("org", orgId) ? await records.read<OrgRecord>(orgKey(orgId)) : null;
  if (org === null || orgState(org, now(), limits) === "gone") throw unknownOrg();
}

function unknownOrg(): RelayError {
  return new RelayError("not_found", "no mail org has this id");
}
