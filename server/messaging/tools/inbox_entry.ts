/** One message of an inbox, for programs: its schema, and how it is read from the store's row. */
import { Buffer } from "node:buffer";
import * as z from "zod";
import type { JsonValue } from "../../../toolkit/json_value.ts";
import type { StoredMessage } from "../messages/rows/stored_messages.ts";

/** A message as check_inbox gives it. */
export const inboxEntrySchema = z.strictObject({
  id: z.int(),
  from: z.string(),
  from_handle: z.string(),
  from_word_name: z.string(),
  subject: z.string().optional(),
  // The types are named one by one, as a schema without a type looks like a mistake. One has a
  // description: bare ones would be joined into an array of types, which some clients do not read.
  body: z.unknown().meta({
    anyOf: [
      { type: "object", description: "often {subject?, text}" },
      ...["array", "string", "number", "boolean", "null"].map((type) => ({ type })),
    ],
  }),
  // The bound keeps the two types apart: bare ones would be joined into an array of types too.
  in_reply_to: z.int().min(1).nullable(),
  content_type: z.enum(["text", "json"]),
  created_at: z.string(),
});
export type InboxEntry = z.infer<typeof inboxEntrySchema>;

/** The stored message with a subject copied out of its body. */
export function readInboxEntry({ json }: StoredMessage): InboxEntry {
  const stored = JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString());
  const subject = subjectOf(stored.body);
  return {
    id: stored.id,
    from: stored.from,
    from_handle: stored.from_handle,
    from_word_name: stored.from_word_name,
    ...(subject === undefined ? {} : { subject }),
    body: stored.body,
    in_reply_to: stored.in_reply_to,
    content_type: stored.content_type,
    created_at: stored.created_at,
  };
}

function subjectOf(body: JsonValue): string | undefined {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return undefined;
  return typeof body["subject"] === "string" ? body["subject"] : undefined;
}
