/** The tool send_email: POST /v1/mail/inboxes/{id}/messages/send. */
import * as z from "zod";
import { defineTool, type Tool } from "../../base/tool_server/tool.ts";
import { newMessage } from "../sending/routes.ts";
import {
  apiKeyArgument,
  idempotencyKeyArgument,
  type MailCall,
  type MailToolServices,
  requireMailCaller,
} from "./mail_call.ts";
import { INBOX_ID } from "./page_arguments.ts";
import { givenRequest, sendAnswer, sendSchema } from "./send_answer.ts";

const addresses = z.union([z.string(), z.array(z.string())]);
const FIELDS = ["to", "cc", "bcc", "subject", "text", "html"];

export function sendEmailTool(services: MailToolServices): Tool<MailCall> {
  const { authenticator, inboxes, acceptance, limits } = services;
  return defineTool({
    name: "send_email",
    title: "Send an e-mail",
    description:
      "Sends a new message from an inbox; to answer one, use reply_to_message. Addresses are bare, as in ann@example.org; " +
      "text or html is required. Pass an idempotency_key to make a retry safe. " +
      `At most ${limits.mailSendsPerInboxPerHour} messages an inbox an hour, ${limits.mailRecipientsPerMessage} recipients a message. Where the inbox is draft_only, ` +
      "a key of that inbox makes a draft that a person approves (status pending_approval); an org-scoped key always " +
      "sends. A trial org cannot send. Never write your API key into a message.",
    hints: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: true,
    },
    input: z.strictObject({
      api_key: apiKeyArgument,
      inbox_id: z.string().describe("its id or address"),
      to: addresses,
      cc: addresses.optional(),
      bcc: addresses.optional(),
      subject: z.string().max(998).optional(),
      text: z.string().optional(),
      html: z.string().optional(),
      idempotency_key: idempotencyKeyArgument,
    }),
    output: sendSchema,
    async run(given, call) {
      const caller = await requireMailCaller(authenticator, given, call, "write");
      const inbox = await inboxes.find(caller, given.string("inbox_id", INBOX_ID));
      const request = givenRequest(caller, given, call, {
        tool: "send_email",
        object: { inbox_id: inbox.id },
        fields: FIELDS,
      });
      const answer = await acceptance.accept(caller, inbox, request, "send", newMessage);
      return sendAnswer(answer, null);
    },
  });
}
