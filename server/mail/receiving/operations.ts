/** Handing in mail, in the API description (docs/mail.md, "Handing mail in"). */
import { z } from "@hono/zod-openapi";
import type { Limits } from "../../base/config/limits.ts";
import type { DescribedRoutes } from "../access/paths.ts";

const Headers = z.object({
  "webhook-id": z.string().openapi({ description: "Remembered for 10 minutes." }),
  "webhook-timestamp": z.string().openapi({ description: "Unix seconds." }),
  "webhook-signature": z.string().openapi({
    description: "`v1,` and base64 of the HMAC-SHA256 under RELAY_MAIL_INBOUND_SECRET over " +
      "`{webhook-id}.{webhook-timestamp}.{X-Relay-Envelope}.` followed by the body.",
  }),
  "X-Relay-Envelope": z.string().openapi({
    description:
      'ASCII JSON `{"from", "to": [...], "client_ip"?, "client_helo"?}`: from "" for the ' +
      "null sender, to 1 to 100 addresses.",
  }),
});

const Rejected = z.array(z.object({
  address: z.string(),
  code: z.enum(["not_found", "blocked", "org_suspended"]),
}));

const Accepted = z.object({
  accepted: z.array(z.string()),
  rejected: Rejected,
}).openapi("InboundAnswer");

export function receivingRoutes(limits: Limits): DescribedRoutes {
  return {
    receiveMail: {
      description: "For the operator's gateway: a message as it came, of at most " +
        `${limits.mailInboundBytes} bytes, for the inboxes that its envelope names. The envelope is ` +
        "signed with it.\n\nThe same bytes and envelope sender are stored once an inbox within 24 " +
        "hours, and accepted again. On 503 hand it in again later.",
      headers: Headers,
      body: {
        description: "The message (RFC 5322).",
        type: "message/rfc822",
        schema: z.string().openapi({ format: "binary" }),
      },
      answers: {
        200: {
          description: "Stored for those who are accepted.",
          headers: ["Cache-Control"],
          content: { schema: Accepted },
        },
      },
      errors: {
        invalid_json: "X-Relay-Envelope is missing or malformed",
        invalid_signature: null,
        timestamp_out_of_range: null,
        not_found:
          "no recipient takes it, the message says why; or no RELAY_MAIL_INBOUND_SECRET is set",
        payload_too_large: null,
        unavailable: "a recipient has no room or rate now, or the disk is full",
      },
    },
  };
}
