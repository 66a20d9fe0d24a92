/** Messages as requests and answers have them (specification, 2.5, 2.6 and 4.3). */
import { z } from "@hono/zod-openapi";
import { described, integer, limit } from "../../base/description/schemas/queries.ts";
import * as value from "../../base/description/schemas/values.ts";
import { flag } from "../../base/http/fields/query.ts";
import { MAX_ID } from "../../base/bounds/max_id.ts";
import { MAX_WAIT_S } from "./inbox/inbox.ts";

export const contentType = z.enum(["text", "json"]);

/** Any JSON, null included, but never absent. */
export const body = (what: string) => z.unknown().nonoptional().openapi({ description: what });

export const OUTBOX_QUERY = {
  since_id: integer("Only messages with greater ids: last_id of the last answer.", {
    min: 0,
    max: MAX_ID,
    absent: 0,
  }),
  limit: limit("messages"),
};

const Unread = z.enum(["true", "false"]).optional().openapi({
  type: "boolean",
  enum: undefined,
  default: false,
  "x-addition": true,
  description: "True: only messages that no answer has shown yet. An answer that is lost on the " +
    "way is not shown again by it; the cursor since_id is the safe way.",
});

export const INBOX_QUERY = {
  ...OUTBOX_QUERY,
  unread: described(flag(), Unread),
  wait: integer(
    "Seconds to wait for a message when there is none. The answer comes as soon as one arrives.",
    { min: 0, max: MAX_WAIT_S, absent: 0 },
    { "x-addition": true },
  ),
};

const InboxMessage = z.object({
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

const OutboxMessage = z.object({
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
