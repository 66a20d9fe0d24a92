/** Drafts as schemas of the API description (docs/mail.md, "An agent writes, a person sends"). */
import { z } from "@hono/zod-openapi";
import { time } from "../../../base/description/schemas/values.ts";
import { mailId } from "../../access/schemas.ts";
import { Address, Attachment } from "./schemas.ts";

const ROW = {
  id: mailId("dft", "The draft."),
  inbox_id: mailId("ibx", "Its inbox."),
  in_reply_to_message_id: z.string().nullable(),
  to: z.array(Address),
  cc: z.array(Address),
  bcc: z.array(Address),
  reply_to: z.array(Address),
  subject: z.string().nullable(),
  attachments: z.array(Attachment),
  labels: z.array(z.string()),
  send_at: time("When it is to go out.").nullable(),
  html_reduced: z.array(z.string()).openapi({
    description: "What was taken out of `html`, which a person has to approve: `element:form`, " +
      "`attribute:onclick`, `style:position`, `hidden_text`, ... Empty on a `direct` inbox.",
  }),
  revision: z.int().min(1).openapi({ description: "One higher with each change." }),
  content_hash: z.string().regex(/^[0-9a-f]{64}$/).openapi({
    description:
      "SHA-256 of the RFC 8785 JSON of {to, cc, bcc, subject, text, html, attachments: " +
      "[{filename, content_type, sha256, content_id}], reply_to, send_at}, each as it is shown here.",
  }),
  created_by_key: z.string(),
  created_at: time("When it was made."),
  updated_at: time("When it was changed."),
};

/** As lists show it. */
export const DraftRow = z.object(ROW).openapi("MailDraftRow");
/** The answer to a key without inbox:read, except about what it has written alone. */
export const DraftMarks = z.object({
  id: ROW.id,
  inbox_id: ROW.inbox_id,
  in_reply_to_message_id: ROW.in_reply_to_message_id,
  labels: ROW.labels,
  send_at: ROW.send_at,
  revision: ROW.revision,
  created_by_key: ROW.created_by_key,
  created_at: ROW.created_at,
  updated_at: ROW.updated_at,
}).strict().openapi("MailDraftMarks");
export const Draft = z.object({
  ...ROW,
  text: z.string().nullable(),
  html: z.string().nullable(),
  headers: z.record(z.string(), z.string()).openapi({
    description: "Of a message that a key wanted to send, which waits for an approval.",
  }),
}).openapi("MailDraft");
