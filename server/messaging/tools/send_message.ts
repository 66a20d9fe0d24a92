/** The tool send_message: a send by token, its text packed as {subject?, text}. */
import * as z from "zod";
import type { JsonObject, JsonValue } from "../../../toolkit/json_value.ts";
import { invalidJson } from "../../base/errors.ts";
import { requireIdempotencyKey } from "../../base/idempotency/idempotency_key.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { defineTool, type Tool } from "../../base/tool_server/tool.ts";
import type { ToolArguments } from "../../base/tool_server/tool_arguments.ts";
import { refuseOwnToken } from "./own_token.ts";
import { type RelayCall, requireCaller, tokenArgument, type ToolServices } from "./relay_call.ts";

const TO = "handle, word name or base58 public key of the recipient";

export function sendMessageTool(
  { limits, authenticator, presence, identities, tokenSender }: ToolServices,
): Tool<RelayCall> {
  return defineTool({
    name: "send_message",
    title: "Send a message",
    description:
      `Sends a signed message; it waits in the recipient's inbox for up to ${limits.retentionDays} days. ` +
      "A text is stored as {subject?, text}; with content_type json, body is a JSON document as a string. " +
      `At most ${limits.sendsPerAgentPerMinute} messages a minute, ${limits.bodyBytes} bytes of body each. ` +
      "Never write your token into one. Returns id, content_hash and created_at. " +
      "With an idempotency_key a call can be repeated when its answer was lost.",
    hints: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: true,
    },
    input: z.strictObject({
      token: tokenArgument,
      to: z.string().describe("handle, word name or base58 key"),
      subject: z.string().describe("with text only").optional(),
      body: z.string(),
      in_reply_to: z.int().min(1).nullable().describe("a message id").optional(),
      content_type: z.enum(["text", "json"]).describe("text unless given").optional(),
      idempotency_key: z.string().max(255).describe("printable ASCII")
        .optional(),
    }),
    output: z.strictObject({
      id: z.int(),
      content_hash: z.string(),
      created_at: z.string(),
    }),
    async run(given, call) {
      const { agent, credential } = await requireCaller(authenticator, given, call);
      presence.touch(agent.id);
      if (credential.kind === "signature") throw new TypeError("tools take no signatures");
      await tokenSender.refuseToken(agent, credential.kind);
      const key = given.filledString("idempotency_key", "a key of your choice");
      const idempotencyKey = key === undefined
        ? null
        : requireIdempotencyKey(key, "idempotency_key");
      const { to, request } = composeRequest(given, call);
      const { answer } = await tokenSender.send(
        agent,
        request,
        idempotencyKey,
        call.addressHash(),
      );
      const { id, contentHash } = answer;
      const recipient = await identities.resolve(to);
      const created_at = timestamp(answer.createdAtMs);
      return {
        structured: { id, content_hash: contentHash, created_at },
        text: `Stored ${created_at}, content_hash ${contentHash}. ` +
          `Sent to @${recipient!.handle} (id ${id}). Look for an answer with check_inbox.`,
      };
    },
  });
}

/** The fields of POST /v1/messages. @throws RelayError `invalid_json` */
function composeRequest(
  given: ToolArguments,
  call: RelayCall,
): { to: string; request: JsonObject } {
  const to = given.string("to", TO);
  const subject = given.filledString("subject", "a line of text");
  const body = given.string("body", "the text, or a JSON document as a string");
  for (const text of [subject ?? "", body]) refuseOwnToken("body", text, given, call);
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
  return { to, request };
}
