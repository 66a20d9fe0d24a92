/** What requests to send and to send drafts have in common in the API description (docs/mail.md). */
import { z } from "@hono/zod-openapi";

const address = z.union([
  z.string().openapi({ description: "A bare address, such as `ann@example.org`." }),
  z.object({ name: z.string().nullable().optional(), address: z.string() }),
]);
export const addresses = z.union([address, z.array(address)]);
export const AttachmentToSend = z.object({
  filename: z.string(),
  content_type: z.string(),
  content: z.string().openapi({ description: "Standard base64; white space is ignored." }),
  content_id: z.string().nullable().optional().openapi({ description: "Puts it inline." }),
}).openapi("MailAttachmentToSend");

export const KeyHeader = z.object({
  "Idempotency-Key": z.string().min(1).max(255).optional().openapi({
    description: "Makes a retry safe: the same request under it is answered the same for 24 hours.",
  }),
});

export const KEY_ERRORS = { idempotency_key_reused: null, idempotency_in_progress: null };

/** Refusals of a send that come last. */
export const SEND_ERRORS = {
  recipient_not_allowed: null,
  recipient_suppressed: null,
  rate_limited: "the inbox, the org or this relay has sent as much as it may for now",
  unavailable: "the disk is full, the org has no room, or too much is being composed",
};

/** The answer to a request that may come again under its Idempotency-Key. */
export const acceptedAs = (description: string, schema: z.ZodType) => ({
  202: {
    description,
    headers: ["Idempotent-Replayed", "Cache-Control"] as const,
    content: { schema },
  },
});
