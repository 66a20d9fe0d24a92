/** Which org an identity of Google's signs in to (docs/mail.md, "Signing in with Google"). */
import type { Limits } from "../../limits.ts";
import { defineRecord } from "../../storage/record_key.ts";
import type { Turn } from "../../storage/job.ts";
import { orgKey, type OrgRecord, orgState } from "./org_record.ts";

/** ["mail-google", sub]: the org of an identity. The org has the last word: holderOf(). */
export interface GoogleRecord {
  v: 1;
  orgId: string;
}
export const googleKey = defineRecord<GoogleRecord, [sub: string]>(["mail-google"], 1);

/** The org that an identity signs in to, in any job; null for none. One that is gone holds no identity. */
export function holderOf(
  turn: Pick<Turn, "nowMs" | "record">,
  sub: string,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): OrgRecord | null {
  const bound = turn.record(googleKey(sub));
  const org = bound && turn.record(orgKey(bound.orgId));
  if (org?.google?.sub !== sub || orgState(org, turn.nowMs, limits) === "gone") return null;
  return org;
}
