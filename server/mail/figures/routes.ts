/** Routes of figures: /v1/mail/usage, /v1/mail/delivery-health and /v1/mail/activity. */
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { invalidJson } from "../../base/errors.ts";
import { choice, readQuery } from "../../base/http/fields/query.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { storageKey, storageQuota, type StorageRecord } from "../core/storage_quota.ts";
import type { KeyedRequest } from "../access/mail_route.ts";
import type { MailHandlers } from "../access/paths.ts";
import { inboxLimit } from "../mailbox/shown/shown_org.ts";
import type { OrgRecord } from "../records/org_record.ts";
import { deliveryHealth } from "./delivery_health.ts";
import { dayOf } from "../records/figures_record.ts";
import { bucketsOf, PERIODS, type Span, spanOf, totalOf } from "./periods.ts";
import { readFigures } from "./read_figures.ts";

export interface FigureRouteServices {
  store: Store;
  records: Pick<RecordCache, "read">;
  limits: Limits;
}

const QUERY = { period: choice(PERIODS, undefined) };

export function figureHandlers({ store, records, limits }: FigureRouteServices) {
  const { now } = store;

  function readSpan({ c }: KeyedRequest): Span {
    const { period } = readQuery(c.get("query"), QUERY);
    if (period === undefined) {
      throw invalidJson(`query parameter period is required: one of ${PERIODS.join(", ")}`);
    }
    return spanOf(period, now());
  }

  const hoursOf = (org: OrgRecord, { startMs, endMs }: Span) =>
    readFigures(store, org.id, startMs, endMs);

  return {
    async readMailUsage({ org }) {
      const nowMs = now();
      const startMs = dayOf(nowMs);
      const today = { startMs, endMs: startMs + DAY_MS };
      const span = { bucket: "day", bucketMs: DAY_MS, buckets: 1, ...today } as const;
      const counts = totalOf(span, await hoursOf(org, span));
      const stored = await records.read<StorageRecord>(storageKey(org.id));
      return answerJson(
        {
          period: shownPeriod(today),
          inboxes: { used: org.inboxes, limit: inboxLimit(org, limits) },
          messages_sent: { used: counts.accepted ?? 0, limit: recipientLimit(org, nowMs, limits) },
          messages_received: counts.received ?? 0,
          storage_bytes: { used: stored?.bytes ?? 0, limit: storageQuota(org, nowMs, limits) },
        },
        200,
        NO_STORE,
      );
    },
    async readMailHealth(request) {
      const span = readSpan(request);
      const counts = totalOf(span, await hoursOf(request.org, span));
      return answerJson(
        { period: shownPeriod(span), ...deliveryHealth(counts) },
        200,
        NO_STORE,
      );
    },
    async readMailActivity(request) {
      const span = readSpan(request);
      const series = bucketsOf(span, await hoursOf(request.org, span));
      return answerJson(
        {
          period: shownPeriod(span),
          bucket: span.bucket,
          series: series.map(({ atMs, counts }) => ({
            at: timestamp(atMs),
            received: counts.received ?? 0,
            sent: counts.accepted ?? 0,
            bounced: counts.bounces ?? 0,
          })),
        },
        200,
        NO_STORE,
      );
    },
  } satisfies MailHandlers;
}

function shownPeriod({ startMs, endMs }: Pick<Span, "startMs" | "endMs">) {
  return { start: timestamp(startMs), end: timestamp(endMs) };
}

/** Recipients that an org may write to on the UTC day of a time. Pure. */
export function recipientLimit(
  { trialEndsAtMs, verifiedAtMs }: Pick<OrgRecord, "trialEndsAtMs" | "verifiedAtMs">,
  nowMs: number,
  limits: Pick<Limits, "mailRecipientsPerOrgPerDay" | "mailRecipientsPerOrgFirstDay">,
): number {
  if (trialEndsAtMs !== null) return 0;
  const isNew = verifiedAtMs !== null && nowMs - verifiedAtMs < DAY_MS;
  return isNew
    ? Math.min(limits.mailRecipientsPerOrgFirstDay, limits.mailRecipientsPerOrgPerDay)
    : limits.mailRecipientsPerOrgPerDay;
}
