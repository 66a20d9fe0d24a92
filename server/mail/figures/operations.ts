/** Figures in the API description (docs/mail.md, "Usage and health"). */
import { z } from "@hono/zod-openapi";
import { time } from "../../base/description/schemas/values.ts";
import type { DescribedRoutes } from "../access/paths.ts";
import { PERIODS } from "./periods.ts";

const amount = (description: string) => z.int().min(0).openapi({ description });

const Span = z.object({
  start: time("Its beginning."),
  end: time("Its end; what lies ahead of now has not been counted yet."),
}).openapi("MailPeriod");

const Used = z.object({ used: z.int().min(0), limit: z.int().min(0) }).openapi("MailUsed");

const Usage = z.object({
  period: Span,
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
  period: Span,
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
  period: Span,
  bucket: z.enum(["hour", "day"]),
  series: z.array(z.object({
    at: time("Beginning of the bucket."),
    received: amount("Messages stored."),
    sent: amount("Recipients of messages that were accepted."),
    bounced: amount("Recipients that bounced."),
  })),
}).openapi("MailActivity");

const PeriodQuery = z.object({
  period: z.enum(PERIODS).openapi({
    description: "24h and 7d in UTC hours, 30d and 90d in UTC days, the running one the last.",
  }),
});

const one = (description: string, schema: z.ZodType) => ({
  200: { description, headers: ["Cache-Control"] as const, content: { schema } },
});

export function figureRoutes(): DescribedRoutes {
  return {
    readMailUsage: {
      description: "What the org has used of its limits, on the current UTC day.",
      answers: one("The counters.", Usage),
    },
    readMailHealth: {
      description: "How the recipients of messages that were accepted in a period stand.",
      query: PeriodQuery,
      answers: one("The figures.", Health),
    },
    readMailActivity: {
      description: "What happened over time, the oldest first, hours or days without anything " +
        "included.",
      query: PeriodQuery,
      answers: one("The series.", Activity),
    },
  };
}
