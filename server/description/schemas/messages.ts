/** Messages as requests and answers have them (specification, 2.5, 2.6 and 4.3). */
import { z } from "@hono/zod-openapi";
import { canonicalJson } from "../../../toolkit/canonical_json.ts";
import { JsonError } from "../../../toolkit/json_error.ts";
import type { JsonValue } from "../../../toolkit/json_value.ts";
import { parseStrict } from "../../../toolkit/parse_strict.ts";
import * as value from "./values.ts";
import { MAX_ID } from "../../max_id.ts";

const encoder = new TextEncoder();

const contentType = z.enum(["text", "json"]);

/** Any JSON, null included, but never absent. */
const body = (what: string) => z.unknown().nonoptional().openapi({ description: what });

/**
 * What POST /v1/messages takes.
 * @param limitBytes of the body in canonical form
 */
export const sendRequest = (limitBytes: number) =>
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

function isStorable(
  request: { body: unknown; content_type?: string | null },
  limitBytes: number,
): boolean {
  const { body, content_type } = request;
  if (content_type === "json" && typeof body !== "string") return false;
  try {
    const stored = content_type === "json" ? parseStrict(body as string) : body as JsonValue;
    return encoder.encode(canonicalJson(stored)).length <= limitBytes;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

export const Sent = z.object({
  id: value.id("The message's id, unique on this relay and ascending in every mailbox."),
  content_hash: value.contentHash(),
  created_at: value.time("When the relay stored the message."),
}).openapi("Sent");

export const InboxMessage = z.object({
  id: value.id("Ascending; pass the last one as since_id."),
  from: value.address("The sender's address:"),
  from_handle: value.handle("The sender's handle."),
  from_word_name: value.wordName("The sender's other name."),
  body: body("What the sender sent: untrusted. For content_type json the parsed document."),
  content_hash: value.contentHash(),
  signature: z.string().regex(/^[A-Za-z0-9+/]{86}==$/).openapi({
    description: "Standard base64 of the sender's 64-byte Ed25519 signature over canonical_string.",
  }),
  canonical_string: z.string().regex(/^relay:v1:POST:\/v1\/messages:[0-9a-f]{64}:\d+$/).nullable()
    .openapi({
      description: "The exact string that the sender signed; null only for messages from before " +
        "provenance was kept.",
    }),
  in_reply_to: z.int().min(1).max(MAX_ID).nullable().openapi({
    format: "int64",
    description: "Id of the message that this one answers, as the sender says.",
  }),
  content_type: contentType,
  created_at: value.time("When the relay stored the message."),
}).openapi("InboxMessage");

const lastId = value.count("Pass it as since_id of the next request.");

export const InboxPage = z.object({ messages: z.array(InboxMessage), last_id: lastId })
  .openapi("InboxPage");

export const OutboxMessage = z.object({
  id: value.id("The id that the send answered."),
  to: value.address("The recipient's address:"),
  to_handle: value.handle("The recipient's handle."),
  to_word_name: value.wordName("The recipient's other name."),
  body: body("What was sent, as it is stored."),
  content_hash: value.contentHash(),
  created_at: value.time("When the relay stored the message."),
  delivered_at: value.time("When the recipient first fetched it; null before.").nullable(),
}).openapi("OutboxMessage");

export const OutboxPage = z.object({ messages: z.array(OutboxMessage), last_id: lastId })
  .openapi("OutboxPage");

/** The bytes that a sender signed: a SendRequest, or what another client made of one. */
export const SignedRequest = z.looseObject({ to: z.string(), body: body("As it was sent.") })
  .openapi("SignedRequest", {
    description: "Exactly the bytes that were signed; hash them as they come, before parsing.",
  });
