/** Whether an org may have one more inbox, and take one more address. Pure. */
import { rateLimited, RelayError } from "../../../base/errors.ts";
import type { Limits } from "../../../base/config/limits.ts";
import { inboxLimit } from "../shown/shown_org.ts";
import { admitOrRefuse } from "../../../base/bounds/rate_window.ts";
import type { OrgRecord } from "../../records/org_record.ts";
import { DAY_MS, HOUR_MS } from "../../../base/time/time_units.ts";

/** For each inbox that an org may have: addresses stay taken when their inboxes are deleted. */
const ADDRESSES_A_DAY = 10;

/** @throws RelayError `inbox_limit_reached` */
export function requireInboxQuota(org: OrgRecord, limits: Limits): void {
  const limit = inboxLimit(org, limits);
  if (org.inboxes < limit) return;
  throw new RelayError(
    "inbox_limit_reached",
    org.trialEndsAtMs === null
      ? `an org has at most ${limit} inboxes; delete one (DELETE /v1/mail/inboxes/{id})`
      : `a trial has at most ${limit} inboxes; claim the org (POST /v1/mail/org/claim) for ${limits.mailInboxesPerOrg}`,
  );
}

/** The org's window with one more address. @throws RelayError `rate_limited` */
export function takeOneMore(org: OrgRecord, limits: Limits, nowMs: number): readonly number[] {
  const limit = ADDRESSES_A_DAY * inboxLimit(org, limits);
  const rule = { limit, windowMs: DAY_MS, bucketMs: HOUR_MS };
  const most =
    `an org takes at most ${limit} addresses a day, those of deleted inboxes included: they are never given out again`;
  return admitOrRefuse(org.addressesTaken, nowMs, rule, (ms) => rateLimited(most, ms));
}

export function addressTaken(localPart: string): RelayError {
  return new RelayError(
    "address_taken",
    `the local part "${localPart}" is or was another inbox's, and addresses are never given out again; choose another, or leave local_part out`,
  );
}
