/** POST /v1/mail/events: the operator's gateway reports the outcome of mails (docs/mail.md). */
import { z } from "@hono/zod-openapi";
import { invalidJson } from "../../../base/errors.ts";
import { answerJson, NO_STORE } from "../../../base/http/answers/answer.ts";
import { readObject } from "../../../base/http/fields/json_body.ts";
import { unkept } from "../../access/schemas.ts";
import type { DeliveryEvents } from "./delivery_events.ts";
import { gatewayRoute } from "./gateway_route.ts";

const MAX_EVENTS = 1_000;

const Event = z.object({
  type: z.enum(["delivered", "bounced", "complained"]),
  message_id: z.string().optional(),
  rfc_message_id: z.string().optional().openapi({
    description: "In place of `message_id`: the Message-ID, with or without its brackets.",
  }),
  recipient: z.string(),
  bounce_type: z.enum(["hard", "soft"]).nullable().optional().openapi({
    description:
      "Hard suppresses the address. Without it `enhanced_code` says it, else it is soft.",
  }),
  smtp_code: z.int().nullable().optional(),
  enhanced_code: z.string().nullable().optional(),
  detail: z.string().nullable().optional(),
  at: z.string().openapi({ format: "date-time", description: "When it happened (RFC 3339)." }),
}).openapi("MailDeliveryEvent");

const Result = z.object({
  applied: z.int().min(0),
  ignored: z.array(z.object({
    index: z.int().min(0),
    reason: z.enum(["malformed", "unknown_message", "unknown_recipient", "repeated", "final"]),
  })),
}).openapi("MailEventsResult");

const receiveMailEvents = gatewayRoute({
  method: "POST",
  path: "/v1/mail/events",
  id: "receiveMailEvents",
  summary: "Hand in delivery events",
  bodyLimit: 1024 * 1024,
  words: {
    description: "For the operator's gateway: what a provider says became of mails, at most " +
      `${MAX_EVENTS} events of messages of the last 30 days. Those of one message are applied in ` +
      "their order.\n\nReasons of those that change nothing: `malformed`; `unknown_message`; " +
      "`unknown_recipient`, also of one to whom nothing was sent yet; `repeated`, it stands so " +
      "already; `final`, nothing leads on from where it stands.",
    body: {
      description: "The events.",
      schema: z.object({ events: z.array(Event).max(MAX_EVENTS) }),
    },
    answers: { 200: unkept("Stored.", Result) },
    errors: {
      invalid_json: null,
      not_found: "no RELAY_MAIL_INBOUND_SECRET is set",
      unavailable: "hand them in again: repeats are ignored",
    },
  },
  handle: ({ events }: { events: DeliveryEvents }) => async ({ raw }) => {
    const { events: given } = readObject(raw);
    if (!Array.isArray(given) || given.length > MAX_EVENTS) {
      throw invalidJson(`events must be an array of at most ${MAX_EVENTS} delivery events`);
    }
    return answerJson(await events.apply(given), 200, NO_STORE);
  },
});

export const EVENT_ROUTES = [receiveMailEvents];
