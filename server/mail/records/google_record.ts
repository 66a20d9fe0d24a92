/** Which org an identity of Google's signs in to (mail page, "Orgs and the ways in"). */
import type { Limits } from "../../limits.ts";
import { defineRecord } from "../../storage/record_key.ts";
import { type OrgRecord, orgState } from "./org_record.ts";

/** ["mail-google", sub]: the org of an identity. The org has the last word: isHeldBy(). */
export interface GoogleRecord {
  v: 1;
  orgId: string;
}
export const googleKey = defineRecord<GoogleRecord, [sub: string]>(["mail-google"], 1);

/** Whether an org, as its record stands, is the one of an identity: one that is gone holds none. Pure. */
export function isHeldBy(
  org: OrgRecord | null,
  sub: string,
  nowMs: number,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): org is OrgRecord {
  return org !== null && org.google?.sub === sub && orgState(org, nowMs, limits) !== "gone";
}
