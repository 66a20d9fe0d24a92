/** Routes of figures: /v1/mail/usage, /v1/mail/delivery-health and /v1/mail/activity (docs/mail.md). */
import { z } from "@hono/zod-openapi";
import { described, querySchema } from "../../base/description/schemas/queries.ts";
import { time } from "../../base/description/schemas/values.ts";
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { invalidJson } from "../../base/errors.ts";
import { choice, readQuery } from "../../base/http/fields/query.ts";
import type { Limits } from "../../base/config/limits.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { type KeyedRequest, keyRoute } from "../access/mail_route.ts";
import { unkept } from "../access/schemas.ts";
import { storageKey, storageQuota, type StorageRecord } from "../core/storage_quota.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { inboxLimit } from "../mailbox/shown/shown_org.ts";
import type { OrgRecord } from "../records/org_record.ts";
import { deliveryHealth } from "./delivery_health.ts";
import { dayOf } from "../records/figures_record.ts";
import { bucketsOf, PERIODS, type Span, spanOf, totalOf } from "./periods.ts";
import { readFigures } from "./read_figures.ts";

const amount = (description: string) => z.int().min(0).openapi({ description });

const PeriodSpan = z.object({
  start: time("Its beginning."),
  end: time("Its end; what lies ahead of now has not been counted yet."),
}).openapi("MailPeriod");

const Used = z.object({ used: z.int().min(0), limit: z.int().min(0) }).openapi("MailUsed");

const Usage = z.object({
  period: PeriodSpan,
  inboxes: Used,
  messages_sent: Used.openapi({
    description: "Recipients of messages that were accepted this UTC day.",
  }),
  messages_received: amount("Messages that were stored this UTC day."),
  storage_bytes: Used.openapi({
    description: "Messages, drafts and stored answers, until their bytes are gone: those of what " +
      "was deleted or replaced count for another hour.",
  }),
}).openapi("MailUsage");

const Rate = z.number().min(0).nullable();

const Health = z.object({
  period: PeriodSpan,
  sent: amount("Ever taken by the next hop."),
  delivered: amount("Reported as delivered."),
  deferred: amount("Tried, and to be tried again."),
  bounced: z.object({ hard: z.int().min(0), soft: z.int().min(0) }),
  complained: amount("Whose readers complained."),
  failed: amount("Given up, for any reason but a refusal."),
  pending: amount("Waiting, or being sent to."),
  bounce_rate: Rate.openapi({
    description: "bounced / (sent + refused by a server); null where that is under 20.",
  }),
  complaint_rate: Rate.openapi({ description: "complained / sent; null where that is under 20." }),
  state: z.enum(["healthy", "warning", "critical"]).openapi({
    description: "warning from 5% bounces or 0.1% complaints, critical from 10% or 0.5%; nothing " +
      "follows from it.",
  }),
}).openapi("MailDeliveryHealth");

const Activity = z.object({
  period: PeriodSpan,
  bucket: z.enum(["hour", "day"]),
  series: z.array(z.object({
    at: time("Beginning of the bucket."),
    received: amount("Messages stored."),
    sent: amount("Recipients of messages that were accepted."),
    bounced: amount("Recipients that bounced."),
  })),
}).openapi("MailActivity");

const NOTE = "Query `period`: 24h, 7d, 30d or 90d.";
const QUERY = {
  period: described(
    choice(PERIODS, undefined),
    z.enum(PERIODS).openapi({
      description: "24h and 7d in UTC hours, 30d and 90d in UTC days, the running one the last.",
    }),
  ),
};

const readMailUsage = keyRoute({
  method: "GET",
  path: "/v1/mail/usage",
  id: "readMailUsage",
  may: "orgRead",
  summary: "Usage counters of the org",
  words: {
    description: "What the org has used of its limits, on the current UTC day.",
    answers: { 200: unkept("The counters.", Usage) },
  },
  handle: (services: MailCore) => async ({ org }) => {
    const { records, limits, now } = services;
    const nowMs = now();
    const startMs = dayOf(nowMs);
    const today = { startMs, endMs: startMs + DAY_MS };
    const span = { bucket: "day", bucketMs: DAY_MS, buckets: 1, ...today } as const;
    const counts = totalOf(span, await hoursOf(services, org, span));
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
});

const readMailHealth = keyRoute({
  method: "GET",
  path: "/v1/mail/delivery-health",
  id: "readMailHealth",
  may: "orgRead",
  summary: "Health of delivery",
  note: NOTE,
  words: {
    description: "How the recipients of messages that were accepted in a period stand.",
    query: querySchema(QUERY),
    answers: { 200: unkept("The figures.", Health) },
  },
  handle: (services: MailCore) => async (request) => {
    const span = readSpan(services, request);
    const counts = totalOf(span, await hoursOf(services, request.org, span));
    return answerJson({ period: shownPeriod(span), ...deliveryHealth(counts) }, 200, NO_STORE);
  },
});

const readMailActivity = keyRoute({
  method: "GET",
  path: "/v1/mail/activity",
  id: "readMailActivity",
  may: "orgRead",
  summary: "Activity over time",
  note: NOTE,
  words: {
    description: "What happened over time, the oldest first, hours or days without anything " +
      "included.",
    query: querySchema(QUERY),
    answers: { 200: unkept("The series.", Activity) },
  },
  handle: (services: MailCore) => async (request) => {
    const span = readSpan(services, request);
    const series = bucketsOf(span, await hoursOf(services, request.org, span));
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
});

export const FIGURE_ROUTES = [readMailUsage, readMailHealth, readMailActivity];

function readSpan({ now }: MailCore, { c }: KeyedRequest): Span {
  const { period } = readQuery(c.get("query"), QUERY);
  if (period === undefined) {
    throw invalidJson(`query parameter period is required: one of ${PERIODS.join(", ")}`);
  }
  return spanOf(period, now());
}

function hoursOf({ store }: MailCore, { id }: OrgRecord, { startMs, endMs }: Span) {
  return readFigures(store, id, startMs, endMs);
}

function shownPeriod({ startMs, endMs }: Pick<Span, "startMs" | "endMs">) {
  return { start: timestamp(startMs), end: timestamp(endMs) };
}

/** Recipients that an org may write to on the UTC day of a time. Pure. */
function recipientLimit(
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
