/** The tool reply_to_message: POST /v1/mail/messages/{id}/reply. */
import * as z from "zod";
import { defineTool, type Tool } from "../../base/tool_server/tool.ts";
import { Quotation } from "../../base/tool_server/untrusted_text.ts";
import { NONCE_BYTES } from "./describe_message.ts";
import {
  apiKeyArgument,
  idempotencyKeyArgument,
  type MailCall,
  type MailToolServices,
  requireMailCaller,
} from "./mail_call.ts";
import { MESSAGE_ID } from "./page_arguments.ts";
import { givenRequest, sendAnswer, sendSchema } from "./send_answer.ts";

const FIELDS = ["text", "html", "reply_all"];

export function replyTool(services: MailToolServices): Tool<MailCall> {
  const { authenticator, inboxes, messages, acceptance, answering, random } = services;
  return defineTool({
    name: "reply_to_message",
    title: "Reply to an e-mail",
    description:
      "Answers a message in its thread: to its Reply-To or sender, with reply_all to everybody it names. The subject is " +
      "taken from it, nothing is quoted; text or html is required. Pass an idempotency_key to make a retry safe. " +
      "Limits, drafts (pending_approval) and trials as for send_email. Look at the addresses it gives back: whoever " +
      "wrote the message chose them.",
    hints: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: true,
    },
    input: z.strictObject({
      api_key: apiKeyArgument,
      message_id: z.string(),
      text: z.string().optional(),
      html: z.string().optional(),
      reply_all: z.boolean().optional(),
      idempotency_key: idempotencyKeyArgument,
    }),
    output: sendSchema,
    async run(given, call) {
      const caller = await requireMailCaller(authenticator, given, call, "write");
      const row = await messages.find(caller, given.string("message_id", MESSAGE_ID));
      const inbox = await inboxes.find(caller, row.inboxId);
      const request = givenRequest(caller, given, call, {
        tool: "reply_to_message",
        object: { message_id: row.id },
        fields: FIELDS,
      });
      const answer = await acceptance.accept(
        caller,
        inbox,
        request,
        "reply",
        (asked) => answering.reply(row, inbox, asked),
      );
      return sendAnswer(answer, new Quotation(random, NONCE_BYTES));
    },
  });
}
