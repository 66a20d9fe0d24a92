/** How many recipients an org may write to (docs/mail.md), decided in the commit that accepts. */
import { rateLimited } from "../../base/errors.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { EXPIRY_MARGIN_MS } from "../../base/storage/rows/store.ts";
import { DAY_MS, HOUR_MS } from "../../base/time/time_units.ts";
import { dayOf, hoursOf } from "../records/figures_record.ts";
import type { OrgRecord } from "../records/org_record.ts";

/** ["mail-new-orgs", dayMs]: recipients of all orgs together that were verified within 7 days. */
const newOrgsKey = defineRecord<{ v: 1; recipients: number }, [dayMs: number]>(
  ["mail-new-orgs"],
  1,
  { holds: "recipients on a UTC day of all orgs that were verified within 7 days", expires: "2 d" },
);

/** So long an org counts as new. */
const NEW_ORG_MS = 7 * DAY_MS;

type QuotaLimits = Pick<
  Limits,
  "mailRecipientsPerOrgPerDay" | "mailRecipientsPerOrgFirstDay" | "mailRecipientsNewOrgsPerDay"
>;

function isWithin(org: Pick<OrgRecord, "verifiedAtMs">, nowMs: number, spanMs: number): boolean {
  return org.verifiedAtMs !== null && nowMs - org.verifiedAtMs < spanMs;
}

/**
 * Requires that the recipients of a message are within the quotas, which are counted among the org's already, and
 * counts the recipients of new orgs.
 * @throws RelayError `rate_limited`
 */
export function takeRecipientQuota(
  transaction: Transaction,
  org: OrgRecord,
  recipients: number,
  limits: QuotaLimits,
): void {
  const { nowMs } = transaction;
  const untilMidnightMs = dayOf(nowMs) + DAY_MS - nowMs;
  const today = acceptedOf(transaction, org.id, nowMs);
  const perDay = limits.mailRecipientsPerOrgPerDay;
  if (sum(today) > perDay) {
    throw rateLimited(
      `an org writes to at most ${perDay} recipients in a UTC day; ${
        sum(today) - recipients
      } are taken, ${recipients} do not fit`,
      untilMidnightMs,
    );
  }
  if (isWithin(org, nowMs, DAY_MS)) {
    const since = org.verifiedAtMs! - HOUR_MS;
    const former = acceptedOf(transaction, org.id, nowMs - DAY_MS);
    const taken = sum([...former, ...today].filter(({ atMs }) => atMs > since));
    const first = limits.mailRecipientsPerOrgFirstDay;
    if (taken > first) {
      throw rateLimited(
        `an org writes to at most ${first} recipients in the 24 hours after it was verified; ${
          taken - recipients
        } are taken, ${recipients} do not fit`,
        org.verifiedAtMs! + DAY_MS - nowMs,
      );
    }
  }
  if (!isWithin(org, nowMs, NEW_ORG_MS)) return;
  const key = newOrgsKey(dayOf(nowMs));
  const taken = transaction.record(key)?.recipients ?? 0;
  if (taken + recipients > limits.mailRecipientsNewOrgsPerDay) {
    throw rateLimited(
      "this relay sends no more mail of orgs that were verified within the last 7 days today; try again tomorrow",
      untilMidnightMs,
    );
  }
  transaction.putRecord(
    key,
    { v: 1, recipients: taken + recipients },
    2 * DAY_MS + EXPIRY_MARGIN_MS,
  );
}

interface Accepted {
  atMs: number;
  recipients: number;
}

function acceptedOf(transaction: Transaction, orgId: string, atMs: number): Accepted[] {
  return Object.entries(hoursOf(transaction, orgId, atMs)).map(([hour, { accepted = 0 }]) => ({
    atMs: dayOf(atMs) + Number(hour) * HOUR_MS,
    recipients: accepted,
  }));
}

function sum(accepted: readonly Accepted[]): number {
  return accepted.reduce((total, { recipients }) => total + recipients, 0);
}
