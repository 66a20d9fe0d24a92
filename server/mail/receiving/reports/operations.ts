/** Handing in delivery events, in the API description (docs/mail.md, "Delivery events"). */
import { z } from "@hono/zod-openapi";
import type { DescribedRoutes } from "../../access/paths.ts";
import { MAX_EVENTS } from "./routes.ts";

const Headers = z.object({
  "webhook-id": z.string(),
  "webhook-timestamp": z.string().openapi({ description: "Unix seconds." }),
  "webhook-signature": z.string().openapi({
    description: "`v1,` and base64 of the HMAC-SHA256 under RELAY_MAIL_INBOUND_SECRET over " +
      "`{webhook-id}.{webhook-timestamp}.` followed by the body.",
  }),
});

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

export function deliveryRoutes(): DescribedRoutes {
  return {
    receiveMailEvents: {
      description: "For the operator's gateway: what a provider says became of mails, at most " +
        `${MAX_EVENTS} events of messages of the last 30 days. Those of one message are applied in ` +
        "their order.\n\nReasons of those that change nothing: `malformed`; `unknown_message`; " +
        "`unknown_recipient`, also of one to whom nothing was sent yet; `repeated`, it stands so " +
        "already; `final`, nothing leads on from where it stands.",
      headers: Headers,
      body: {
        description: "The events.",
        schema: z.object({ events: z.array(Event).max(MAX_EVENTS) }),
      },
      answers: {
        200: {
          description: "Stored.",
          headers: ["Cache-Control"],
          content: { schema: Result },
        },
      },
      errors: {
        invalid_json: null,
        invalid_signature: null,
        timestamp_out_of_range: null,
        not_found: "no RELAY_MAIL_INBOUND_SECRET is set",
        payload_too_large: null,
        unavailable: "hand them in again: repeats are ignored",
      },
    },
  };
}
