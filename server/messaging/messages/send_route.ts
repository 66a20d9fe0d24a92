/** POST /v1/messages (specification, 4.3). */
import { z } from "@hono/zod-openapi";
import { canonicalJson } from "../../../toolkit/canonical_json.ts";
import { JsonError } from "../../../toolkit/json_error.ts";
import type { JsonValue } from "../../../toolkit/json_value.ts";
import { parseStrict } from "../../../toolkit/parse_strict.ts";
import { agentBodyRoute } from "../agents/agent_route.ts";
import type { AgentCore } from "../agents/agent_core.ts";
import {
  EXAMPLE_REPLY,
  EXAMPLE_SEND,
  EXAMPLE_SEND_JSON,
  EXAMPLE_SENT,
} from "../../base/description/examples.ts";
import * as value from "../../base/description/schemas/values.ts";
import { JSON_HEADERS } from "../../base/http/answers/answer.ts";
import { readObject } from "../../base/http/fields/json_body.ts";
import { readIdempotencyKey } from "../../base/idempotency/idempotency_key.ts";
import { MAX_ID } from "../../base/bounds/max_id.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { body, contentType } from "./schemas.ts";
import type { SendResult } from "./send/send_answer.ts";
import type { SignedSender } from "./send/signed_sender.ts";
import type { TokenSender } from "./send/token_sender.ts";

export interface SendServices extends Pick<AgentCore, "clients"> {
  signedSender: SignedSender;
  tokenSender: TokenSender;
}

const IdempotencyHeaders = z.object({
  "Idempotency-Key": z.string().regex(/^[\x20-\x7e]{1,255}$/).optional().openapi({
    "x-addition": true,
    description:
      "For sends by token: 1 to 255 printable ASCII characters of your choice, new for " +
      "each message. Repeating the request with the same key within 24 h answers the first " +
      "answer again and stores nothing. Ignored on signed sends, which are safe to repeat anyway.",
  }),
});

/**
 * What POST /v1/messages takes.
 * @param limitBytes of the body in canonical form
 */
const sendRequest = (limitBytes: number) =>
  z.object({
    to: z.string().openapi({
      description:
        "The recipient: a handle (a leading @ and capitals do no harm), a word name, or " +
        "a base58 address.",
      examples: ["bob", "@bob", "nascent-violet-binturong"],
    }),
    body: body(
      "Any JSON value, null included. With content_type json it must be a string that holds a " +
        `JSON document. At most ${limitBytes} bytes in canonical form (RFC 8785). Recommended: ` +
        "`{subject?: string, text: string, ...extras}`.",
    ),
    in_reply_to: z.int().min(1).max(MAX_ID).nullish().openapi({
      format: "int64",
      description: "Id of the message that this one answers. Not looked up: it may have expired.",
    }),
    content_type: contentType.nullish().openapi({
      description:
        "`text` (when absent) stores body as given, whatever JSON it is; `json` parses " +
        "the string in body and stores the document.",
    }),
  }).refine((request) => isStorable(request, limitBytes)).openapi("SendRequest");

const Sent = z.object({
  id: value.id("The message's id, unique on this relay and ascending in every mailbox."),
  content_hash: value.contentHash(),
  created_at: value.time("When the relay stored the message."),
}).openapi("Sent");

export const sendMessage = agentBodyRoute({
  method: "POST",
  path: "/v1/messages",
  id: "sendMessage",
  tag: "Messages",
  summary: "Send a message",
  // Check 1: agentBodyRoute() reads the body within its bound.
  may: ["signature", "toolToken"], // Check 2; an owner_token is refused by check 3
  words: ({ limits }) => ({
    description:
      `Stores a signed message for one recipient, who need not be online; it waits for ` +
      `${limits.retentionDays} days. 201 means written to disk.\n\n` +
      `**Signed:** sign the raw body bytes you send; that signature and the signed string travel ` +
      `with the message, so that the recipient can verify you offline. Repeating exactly the same ` +
      `request (same body, timestamp, signature) is safe: it answers the first 201 again, with ` +
      `\`Idempotent-Replayed: true\`. To send the same content as a new message, use the next ` +
      `free timestamp.\n\n` +
      `**By token:** only for agents whose key the relay holds (\`POST /mcp\`); the relay signs. ` +
      `Send an \`Idempotency-Key\` to make retries safe.\n\n` +
      `Limits: ${limits.sendsPerAgentPerMinute} messages an agent a minute; body ` +
      `${limits.bodyBytes} bytes in canonical JSON, the whole request ${limits.rawBodyBytes} bytes. ` +
      `JSON must be readable alike everywhere (I-JSON): no duplicate names, no lone surrogates, no ` +
      `integers from 2^53 on, at most 64 nested containers.\n\n` +
      `On 429 wait \`retry_after_ms\`; on 503 or a lost answer repeat the same request.`,
    headers: IdempotencyHeaders,
    body: {
      description: "Unknown fields are ignored. in_reply_to and content_type are part of what is " +
        "signed.",
      schema: sendRequest(limits.bodyBytes),
      examples: {
        text: EXAMPLE_SEND,
        json: EXAMPLE_SEND_JSON,
        reply: EXAMPLE_REPLY,
      },
    },
    answers: {
      201: {
        description: "Stored, now or by the same request before.",
        headers: ["Idempotent-Replayed"],
        content: { schema: Sent, examples: { sent: EXAMPLE_SENT } },
      },
    },
    errors: {
      invalid_json: "not strict JSON, a field of the wrong type, a malformed in_reply_to, an " +
        "unknown content_type (the message lists the valid ones) or a bad Idempotency-Key",
      banned: "the sender is banned by the operator",
      key_required: null,
      recipient_banned: null,
      not_found: "no agent has the address in `to`",
      idempotency_key_reused: null,
      rate_limited:
        "too many messages in a minute, too many bytes retained for this sender, or too " +
        "many bytes from this client address within an hour",
      unavailable: "the relay is stopping, overloaded or short of disk; repeat the same request " +
        "(by token, under the same Idempotency-Key): what was stored is not stored again",
    },
  }),
  // The checks of a send and their order are in send/sender.ts.
  handle: ({ signedSender, tokenSender, clients }: SendServices) => {
    return async (c, { agent, credential }, raw) => {
      if (credential.kind === "signature") {
        return answerSend(await signedSender.send(agent, credential, raw, () => clients.hashOf(c)));
      }
      await tokenSender.refuseToken(agent, credential.kind);
      const key = readIdempotencyKey(c.req.raw.headers); // Check 4
      return answerSend(await tokenSender.send(agent, readObject(raw), key, clients.hashOf(c)));
    };
  },
});

function answerSend({ answer, replayed }: SendResult): Response {
  return new Response(
    `{"id":${answer.id},"content_hash":"${answer.contentHash}",` +
      `"created_at":"${timestamp(answer.createdAtMs)}"}`,
    {
      status: 201,
      headers: replayed ? { ...JSON_HEADERS, "Idempotent-Replayed": "true" } : JSON_HEADERS,
    },
  );
}

function isStorable(
  request: { body: unknown; content_type?: string | null },
  limitBytes: number,
): boolean {
  const { body, content_type } = request;
  if (content_type === "json" && typeof body !== "string") return false;
  try {
    const stored = content_type === "json" ? parseStrict(body as string) : body as JsonValue;
    return new TextEncoder().encode(canonicalJson(stored)).length <= limitBytes;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}
