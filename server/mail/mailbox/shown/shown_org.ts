/** An org as answers show it (specification, 2.11). */
import { z } from "@hono/zod-openapi";
import { time } from "../../../base/description/schemas/values.ts";
import type { Limits } from "../../../base/config/limits.ts";
import { timestamp } from "../../../base/time/timestamp.ts";
import { mailId } from "../../access/schemas.ts";
import type { OrgRecord } from "../../records/org_record.ts";

export const Org = z.object({
  org_id: mailId("org", "The org."),
  trial: z.boolean().openapi({ description: "Receives only, until it is claimed." }),
  verified_email: z.string().nullable(),
  expires_at: time("End of the trial; null for a verified org.").nullable(),
  google_email: z.string().nullable(),
  inboxes: z.object({ count: z.int().min(0), limit: z.int().min(0) }),
  pending_claim: z.object({ email: z.string(), expires_at: time("End of its link.") }).nullable(),
}).openapi("MailOrg");

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
