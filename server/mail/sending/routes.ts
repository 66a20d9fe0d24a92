/** Routes that send: send, reply, forward, cancel (docs/mail.md). */
import { z } from "@hono/zod-openapi";
import { maySee } from "../access/access.ts";
import { type KeyedRequest, keyRoute } from "../access/mail_route.ts";
import { unkept } from "../access/schemas.ts";
import type { SendBodies, SendBodyKind } from "../composing/requests/read_send_body.ts";
import { giveKeyed, readKeyHeader } from "../mailbox/answers/keyed_answers.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { Draft, DraftMarks } from "../mailbox/shown/draft_schemas.ts";
import { Message, MessageMarks } from "../mailbox/shown/schemas.ts";
import { prepareAnswer } from "../mailbox/shown/show_whole.ts";
import type { Inbox } from "../records/inbox_record.ts";
import type { MessageRow } from "../records/message_record.ts";
import { type Acceptance, refuseTrial } from "./acceptance.ts";
import type { Answering } from "./answering.ts";
import { cancelMessage } from "./cancel_message.ts";
import {
  acceptedAs,
  addresses,
  AttachmentToSend,
  KEY_ERRORS,
  KeyHeader,
  SEND_ERRORS,
} from "./schemas.ts";
import type { MessageToSend, Sender } from "./sender.ts";

interface SendingServices extends MailCore {
  sender: Sender;
  acceptance: Acceptance;
  answering: Answering;
}

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

const ACCEPTED = acceptedAs(
  "The message as accepted, or where a person has to approve it, the draft.",
  z.union([Message, Pending]),
);

const UNKNOWN = "Unknown fields are ignored, but one that differs from a known name by case, " +
  "underscores or one letter only is refused.";
const BODY = `At least one of text and html. null counts as absent. ${UNKNOWN}`;
const NO_MESSAGE = "the org has no such message, or the key is for another inbox";
const ERRORS = { trial_org_cannot_send: null, invalid_email: null, ...KEY_ERRORS, ...SEND_ERRORS };

const sendMail = keyRoute({
  method: "POST",
  path: "/v1/mail/inboxes/{id}/messages/send",
  id: "sendMail",
  may: "write",
  summary: "Send mail",
  note: "The Idempotency-Key header is supported.",
  bodyLimit: "mailRequestBytes",
  words: ({ limits }) => ({
    description: "Sends mail from an inbox. It is composed and signed once and stored as it goes " +
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
  }),
  handle: (services: SendingServices) => async (request) => {
    const inbox = await services.inboxes.find(request, request.params["id"]!);
    return await accept(services, request, "send", inbox, newMessage);
  },
});

const replyToMail = keyRoute({
  method: "POST",
  path: "/v1/mail/messages/{id}/reply",
  id: "replyToMail",
  may: "write",
  summary: "Reply in the thread",
  bodyLimit: "mailRequestBytes",
  words: {
    description:
      "Answers a message in its thread: to Reply-To, else From (to From as well where its warnings " +
      "have `reply_to_unsigned`); with `reply_all` to everybody whom it names, and never to the inbox " +
      "itself. The answer to one's own message goes to its recipients. Nothing is quoted.",
    headers: KeyHeader,
    body: { description: BODY, schema: ReplyRequest },
    answers: ACCEPTED,
    errors: { ...ERRORS, not_found: NO_MESSAGE },
  },
  handle: (services: SendingServices) => async (request) => {
    const { row, inbox } = await find(services, request);
    const make = (asked: SendBodies["reply"]) => services.answering.reply(row, inbox, asked);
    return await accept(services, request, "reply", inbox, make);
  },
});

const forwardMail = keyRoute({
  method: "POST",
  path: "/v1/mail/messages/{id}/forward",
  id: "forwardMail",
  may: "readWrite",
  summary: "Forward a message",
  addition: true,
  words: {
    description: "Sends a message on, with its text and attachments, in the same thread.",
    headers: KeyHeader,
    body: { description: UNKNOWN, schema: ForwardRequest },
    answers: ACCEPTED,
    errors: {
      ...ERRORS,
      not_found: NO_MESSAGE,
      payload_too_large: "the whole would be larger than a message that is sent may be",
    },
  },
  handle: (services: SendingServices) => async (request) => {
    const { sender, answering } = services;
    const { row, inbox } = await find(services, request);
    return await accept(services, request, "forward", inbox, async (asked) => {
      // Reading what goes on costs more than all else.
      await sender.check(request.org, inbox, { ...asked, about: row });
      return await answering.forward(row, asked);
    });
  },
});

const cancelMail = keyRoute({
  method: "POST",
  path: "/v1/mail/messages/{id}/cancel",
  id: "cancelMail",
  may: "write",
  summary: "Cancel a scheduled message",
  addition: true,
  words: {
    description:
      "Takes a scheduled message back, until its `send_at`. A key without `inbox:read` is " +
      "answered marks, unless it has written the message.",
    answers: {
      200: unkept("The message, cancelled.", z.union([Message, MessageMarks])),
    },
    errors: { not_found: NO_MESSAGE, trial_org_cannot_send: null, already_sent: null },
  },
  handle: (services: MailCore) => async (request) => {
    const row = await services.messages.find(request, request.params["id"]!);
    refuseTrial(request.org);
    const give = await prepareAnswer(services, row, maySee(request.key, row.writtenByKey));
    return await give(await cancelMessage(services, request, row));
  },
});

export const SEND_ROUTES = [sendMail];
export const ANSWERING_ROUTES = [replyToMail, forwardMail, cancelMail];

export function newMessage(asked: SendBodies["send"]): MessageToSend {
  return { ...asked, inReplyTo: null, references: [], autoSubmitted: null, about: null };
}

/** The message that a path names, and its inbox. */
async function find(
  { messages, inboxes }: MailCore,
  request: KeyedRequest,
): Promise<{ row: MessageRow; inbox: Inbox }> {
  const row = await messages.find(request, request.params["id"]!);
  return { row, inbox: await inboxes.find(request, row.inboxId) };
}

/** Steps 7 to 11 of mail_route.ts. */
async function accept<K extends SendBodyKind>(
  { acceptance }: SendingServices,
  request: KeyedRequest,
  kind: K,
  inbox: Inbox,
  make: (asked: SendBodies[K]) => Promise<MessageToSend> | MessageToSend,
): Promise<Response> {
  const given = { key: () => readKeyHeader(request), body: request.bytes };
  return giveKeyed(await acceptance.accept(request, inbox, given, kind, make));
}
