/** What requests to send have in common, as schemas of the API description (docs/mail.md). */
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
