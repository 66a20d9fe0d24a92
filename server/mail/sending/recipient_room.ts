/** How many recipients an org may write to (docs/mail.md), decided in the commit that accepts. */
import { rateLimited } from "../../errors.ts";
import type { Limits } from "../../limits.ts";
import type { Turn } from "../../storage/job.ts";
import { defineRecord } from "../../storage/record_key.ts";
import { EXPIRY_MARGIN_MS } from "../../storage/store.ts";
import { DAY_MS, HOUR_MS } from "../../time_units.ts";
import { dayOf, hoursOf } from "../figures/figures_record.ts";
import type { OrgRecord } from "../records/org_record.ts";

/** ["mail-new-orgs", dayMs]: recipients of all orgs together that were verified within 7 days. */
const newOrgsKey = defineRecord<{ v: 1; recipients: number }, [dayMs: number]>(
  ["mail-new-orgs"],
  1,
);

/** So long an org counts as new. */
const NEW_ORG_MS = 7 * DAY_MS;

type RoomLimits = Pick<
  Limits,
  "mailRecipientsPerOrgPerDay" | "mailRecipientsPerOrgFirstDay" | "mailRecipientsNewOrgsPerDay"
>;

function isWithin(org: Pick<OrgRecord, "verifiedAtMs">, nowMs: number, spanMs: number): boolean {
  return org.verifiedAtMs !== null && nowMs - org.verifiedAtMs < spanMs;
}

/**
 * Requires room for the recipients of a message, which are counted among the org's already, and
 * counts those of new orgs.
 * @throws RelayError `rate_limited`
 */
export function takeRecipientRoom(
  turn: Turn,
  org: OrgRecord,
  recipients: number,
  limits: RoomLimits,
): void {
  const { nowMs } = turn;
  const untilMidnightMs = dayOf(nowMs) + DAY_MS - nowMs;
  const today = acceptedOf(turn, org.id, nowMs);
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
    const former = acceptedOf(turn, org.id, nowMs - DAY_MS);
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
  const taken = turn.record(key)?.recipients ?? 0;
  if (taken + recipients > limits.mailRecipientsNewOrgsPerDay) {
    throw rateLimited(
      "this relay sends no more mail of orgs that were verified within the last 7 days today; try again tomorrow",
      untilMidnightMs,
    );
  }
  turn.putRecord(key, { v: 1, recipients: taken + recipients }, 2 * DAY_MS + EXPIRY_MARGIN_MS);
}

interface Accepted {
  atMs: number;
  recipients: number;
}

function acceptedOf(turn: Turn, orgId: string, atMs: number): Accepted[] {
  return Object.entries(hoursOf(turn, orgId, atMs)).map(([hour, { accepted = 0 }]) => ({
    atMs: dayOf(atMs) + Number(hour) * HOUR_MS,
    recipients: accepted,
  }));
}

function sum(accepted: readonly Accepted[]): number {
  return accepted.reduce((total, { recipients }) => total + recipients, 0);
}
