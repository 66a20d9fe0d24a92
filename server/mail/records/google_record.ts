/** Which org an identity of Google's signs in to (docs/mail.md, "Signing in with Google"). */
import type { Limits } from "../../base/config/limits.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { orgKey, type OrgRecord, orgState } from "./org_record.ts";

/** ["mail-google", sub]: the org of an identity. The org has the last word: holderOf(). */
export interface GoogleRecord {
  v: 1;
  orgId: string;
}
export const googleKey = defineRecord<GoogleRecord, [sub: string]>(["mail-google"], 1, {
  holds: "the org of a Google account; the org has the last word",
  expires: "until unlinked or erased",
});

/** The org that an identity signs in to, in any job; null for none. One that is gone holds no identity. */
export function holderOf(
  transaction: Pick<Transaction, "nowMs" | "record">,
  sub: string,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): OrgRecord | null {
  const bound = transaction.record(googleKey(sub));
  const org = bound && transaction.record(orgKey(bound.orgId));
  if (org?.google?.sub !== sub || orgState(org, transaction.nowMs, limits) === "gone") return null;
  return org;
}
