/** An org as answers show it (specification, 2.11). */
import type { Limits } from "../../../base/config/limits.ts";
import { timestamp } from "../../../base/time/timestamp.ts";
import type { OrgRecord } from "../../records/org_record.ts";

export function shownOrg(org: OrgRecord, limits: Limits, nowMs: number) {
  const claim = org.pendingClaim;
  return {
    org_id: org.id,
    trial: org.trialEndsAtMs !== null,
    verified_email: org.verifiedEmail,
    expires_at: org.trialEndsAtMs === null ? null : timestamp(org.trialEndsAtMs),
    google_email: org.google?.email ?? null,
    inboxes: { count: org.inboxes, limit: inboxLimit(org, limits) },
    pending_claim: claim === null || nowMs >= claim.expiresAtMs
      ? null
      : { email: claim.email, expires_at: timestamp(claim.expiresAtMs) },
  };
}

/** How many inboxes the org may have. */
export function inboxLimit(org: Pick<OrgRecord, "trialEndsAtMs">, limits: Limits): number {
  return org.trialEndsAtMs === null ? limits.mailInboxesPerOrg : limits.mailInboxesPerTrial;
}
