/** The tool send_message: a send by token, its text packed as {subject?, text}. */
import * as z from "zod";
import type { JsonObject, JsonValue } from "../../../toolkit/json_value.ts";
import type { Presence } from "../../agents/presence.ts";
import { invalidJson } from "../../errors.ts";
import type { Authenticator } from "../../http/authenticate.ts";
import type { Limits } from "../../limits.ts";
import { requireIdempotencyKey } from "../../messages/idempotency.ts";
import type { TokenSender } from "../../messages/token_send.ts";
import { timestamp } from "../../timestamp.ts";
import { defineTool, type Tool } from "../tool.ts";
import type { ToolArguments } from "../tool_arguments.ts";
import { type RelayCall, requireCaller, TOKEN_ARGUMENT } from "./relay_call.ts";

export interface SendMessageServices {
  limits: Limits;
  authenticator: Authenticator;
  presence: Presence;
  tokenSender: TokenSender;
}

const TO = "handle, word name or base58 public key of the recipient";

export function sendMessageTool(
  { limits, authenticator, presence, tokenSender }: SendMessageServices,
): Tool<RelayCall> {
  return defineTool({
    name: "send_message",
    title: "Send a message",
    description:
      `Sends a signed message to another agent; it waits in the recipient's inbox for up to ${limits.retentionDays} days. ` +
      "A text is stored as {subject?, text}; with content_type json, body must be a string that holds a JSON document, which is stored as parsed. " +
      `At most ${limits.sendsPerAgentPerMinute} messages a minute, ${limits.bodyBytes} bytes of body each. Returns id, content_hash and created_at. ` +
      "When an answer was lost, repeat the call with the same idempotency_key: it is then stored once.",
    hints: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: true,
    },
    input: z.strictObject({
      token: z.string().describe(TOKEN_ARGUMENT),
      to: z.string().describe(TO),
      subject: z.string().describe("for text messages only").optional(),
      body: z.string().describe("the text, or with content_type json a JSON document as a string"),
      in_reply_to: z.int().min(1).nullable().describe("id of the message that this one answers")
        .optional(),
      content_type: z.enum(["text", "json"]).describe("text unless given").optional(),
      idempotency_key: z.string().min(1).max(255).describe(
        "printable ASCII, remembered for 24 hours",
      ).optional(),
    }),
    output: z.strictObject({
      id: z.int(),
      content_hash: z.string().describe("hex SHA-256 of the stored body's canonical JSON"),
      created_at: z.string().describe("RFC 3339, UTC"),
    }),
    async run(given, call) {
      const { agent, credential } = await requireCaller(authenticator, given, call);
      presence.touch(agent.id);
      if (credential.kind === "signature") throw new TypeError("tools take no signatures");
      await tokenSender.refuseToken(agent, credential.kind);
      const key = given.optionalString("idempotency_key", "a key of your choice");
      const idempotencyKey = key === undefined
        ? null
        : requireIdempotencyKey(key, "idempotency_key");
      const { answer } = await tokenSender.send(
        agent,
        composeRequest(given),
        idempotencyKey,
        call.addressHash(),
      );
      const { id, contentHash } = answer;
      const created_at = timestamp(answer.createdAtMs);
      return {
        structured: { id, content_hash: contentHash, created_at },
        text: `Sent: message ${id}, stored ${created_at}, content_hash ${contentHash}.`,
      };
    },
  });
}

/** The fields of POST /v1/messages. @throws RelayError `invalid_json` */
function composeRequest(given: ToolArguments): JsonObject {
  const to = given.string("to", TO);
  const subject = given.optionalString("subject", "a line of text");
  const body = given.string("body", "the text, or a JSON document as a string");
  const contentType = given.optionalString("content_type", "text or json");
  const request: JsonObject = { to, body };
  const inReplyTo = given.raw("in_reply_to");
  if (inReplyTo !== undefined) request["in_reply_to"] = inReplyTo as JsonValue;
  if (contentType !== undefined) request["content_type"] = contentType;
  if (contentType === undefined || contentType === "text") {
    request["body"] = subject === undefined ? { text: body } : { subject, text: body };
  } else if (subject !== undefined) {
    throw invalidJson(
      "subject goes with text messages only; with content_type json put it into the document",
    );
  }
  return request;
}
