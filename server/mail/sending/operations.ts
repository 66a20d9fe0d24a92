/** Sending, replies and forwards in the API description (docs/mail.md, "Sending mail"). */
import { z } from "@hono/zod-openapi";
import type { Limits } from "../../base/config/limits.ts";
import type { DescribedRoutes } from "../access/paths.ts";
import { Draft, DraftMarks } from "../mailbox/shown/draft_schemas.ts";
import { Message, MessageMarks } from "../mailbox/shown/schemas.ts";
import { addresses, AttachmentToSend, KeyHeader } from "./schemas.ts";

const text = z.string().nullable().optional();

/** What JSON Schema says of "at least one of text and html". */
const TEXT_OR_HTML = {
  anyOf: ["text", "html"].map((name) => ({
    required: [name],
    properties: { [name]: { type: "string" as const, minLength: 1 } },
  })),
};

const SendRequest = z.object({
  to: addresses,
  cc: addresses.nullable().optional(),
  bcc: addresses.nullable().optional(),
  subject: text,
  text,
  html: text,
  attachments: z.array(AttachmentToSend).nullable().optional(),
  headers: z.record(z.string(), z.string()).nullable().optional().openapi({
    description:
      "Names that begin with X-, but not with X-Relay- or what mail providers take orders by (X-SMTPAPI, X-SES-, ...).",
  }),
  reply_to: addresses.nullable().optional(),
  labels: z.array(z.string()).nullable().optional(),
  send_at: z.string().nullable().optional().openapi({
    description: "RFC 3339, 30 s to 30 days ahead.",
  }),
}).openapi("MailSendRequest", TEXT_OR_HTML);

const ReplyRequest = z.object({
  text,
  html: text,
  attachments: z.array(AttachmentToSend).nullable().optional(),
  reply_all: z.boolean().nullable().optional(),
}).openapi("MailReplyRequest", TEXT_OR_HTML);

const ForwardRequest = z.object({
  to: addresses,
  cc: addresses.nullable().optional(),
  bcc: addresses.nullable().optional(),
  text,
}).openapi("MailForwardRequest");

const Pending = z.object({
  status: z.literal("pending_approval"),
  draft: z.union([Draft, DraftMarks]),
}).openapi("MailPendingApproval");

const ACCEPTED = {
  202: {
    description: "The message as accepted, or where a person has to approve it, the draft.",
    headers: ["Idempotent-Replayed", "Cache-Control"] as const,
    content: { schema: z.union([Message, Pending]) },
  },
};

const UNKNOWN = "Unknown fields are ignored, but one that differs from a known name by case, " +
  "underscores or one letter only is refused.";
const BODY = `At least one of text and html. null counts as absent. ${UNKNOWN}`;
const ERRORS = {
  trial_org_cannot_send: null,
  invalid_email: null,
  idempotency_key_reused: null,
  idempotency_in_progress: null,
  recipient_not_allowed: null,
  recipient_suppressed: null,
  rate_limited: "the inbox, the org or this relay has sent as much as it may for now",
  unavailable: "the disk is full, the org has no room, or too much is being composed",
};

export function sendingRoutes(limits: Limits): DescribedRoutes {
  return {
    sendMail: {
      description:
        "Sends mail from an inbox. It is composed and signed once and stored as it goes " +
        `out; \`recipients\` tell what becomes of each. At most ${limits.mailRecipientsPerMessage} ` +
        "recipients, each address once. With `send_at` it waits until then.\n\n" +
        "With an inbox-scoped key of a `draft_only` inbox it becomes a draft that a person approves.",
      headers: KeyHeader,
      body: { description: BODY, schema: SendRequest },
      answers: ACCEPTED,
      errors: {
        ...ERRORS,
        not_found: "the org has no inbox with this id or address, or the key is for another",
      },
    },
    replyToMail: {
      description:
        "Answers a message in its thread: to Reply-To, else From (to From as well where its warnings " +
        "have `reply_to_unsigned`); with `reply_all` to everybody whom it names, and never to the inbox " +
        "itself. The answer to one's own message goes to its recipients. Nothing is quoted.",
      headers: KeyHeader,
      body: { description: BODY, schema: ReplyRequest },
      answers: ACCEPTED,
      errors: {
        ...ERRORS,
        not_found: "the org has no such message, or the key is for another inbox",
      },
    },
    forwardMail: {
      description: "Sends a message on, with its text and attachments, in the same thread.",
      headers: KeyHeader,
      body: { description: UNKNOWN, schema: ForwardRequest },
      answers: ACCEPTED,
      errors: {
        ...ERRORS,
        not_found: "the org has no such message, or the key is for another inbox",
        payload_too_large: "the whole would be larger than a message that is sent may be",
      },
    },
    cancelMail: {
      description:
        "Takes a scheduled message back, until its `send_at`. A key without `inbox:read` is " +
        "answered marks, unless it has written the message.",
      answers: {
        200: {
          description: "The message, cancelled.",
          headers: ["Cache-Control"],
          content: { schema: z.union([Message, MessageMarks]) },
        },
      },
      errors: {
        not_found: "the org has no such message, or the key is for another inbox",
        trial_org_cannot_send: null,
        already_sent: null,
      },
    },
  };
}
