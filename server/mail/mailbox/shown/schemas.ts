/** Messages and threads as schemas of the API description (docs/mail.md, "Messages"). */
import { z } from "@hono/zod-openapi";
import { time } from "../../../base/description/schemas/values.ts";
import { mailId } from "../../access/schemas.ts";

const nullableText = (what: string) => z.string().nullable().openapi({ description: what });
const count = z.int().min(0);

export const Address = z.object({
  name: nullableText("The display name; null where there is none."),
  address: z.string(),
}).openapi("MailAddress");

export const Attachment = z.object({
  id: z.string().regex(/^att_[0-9]+$/),
  filename: z.string().nullable(),
  content_type: z.string(),
  size: count.openapi({ description: "Decoded bytes." }),
  disposition: z.enum(["attachment", "inline"]),
  content_id: z.string().nullable(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
}).openapi("MailAttachment");

const CHECK = z.enum([
  "pass",
  "fail",
  "softfail",
  "neutral",
  "none",
  "temperror",
  "permerror",
]);

const Auth = z.object({
  spf: CHECK,
  dkim: CHECK,
  dmarc: CHECK,
  arc: z.enum(["none", "pass", "fail"]).openapi({
    description: "The chain of seals of those who passed it on (RFC 8617). Anybody may make one.",
  }),
  from_domain: z.string().nullable(),
  verdict: z.enum(["pass", "fail", "error", "none"]).openapi({
    description: "Whether the domain of From stands behind the message. Told, never enforced.",
  }),
}).openapi("MailAuth");

const Recipient = z.object({
  address: z.string(),
  status: z.enum([
    "queued",
    "sending",
    "deferred",
    "sent",
    "delivered",
    "bounced",
    "complained",
    "failed",
  ]),
  smtp_code: z.int().nullable(),
  enhanced_code: z.string().nullable(),
  reason: z.enum([
    "refused",
    "expired",
    "unknown",
    "sender_refused",
    "suppressed",
    "next_hop_refused",
  ]).nullable(),
  detail: nullableText("At most 200 characters of what the other side said."),
  attempts: count,
  next_attempt_at: time("When it is tried again.").nullable(),
  at: time("The last change."),
}).openapi("MailRecipient");

const ROW = {
  id: mailId("msg", "The message; ids of one inbox ascend in the order of arrival."),
  inbox_id: mailId("ibx", "Its inbox."),
  thread_id: mailId("thr", "Its thread."),
  direction: z.enum(["inbound", "outbound"]),
  status: z.enum([
    "received",
    "scheduled",
    "cancelled",
    "queued",
    "sending",
    "deferred",
    "sent",
    "delivered",
    "bounced",
    "complained",
    "failed",
  ]),
  envelope: z.object({ from: z.string(), to: z.array(z.string()) }).nullable().openapi({
    description: "Of inbound messages; `to` has this inbox's spellings only.",
  }),
  from: Address.nullable(),
  reply_to: z.array(Address),
  to: z.array(Address),
  cc: z.array(Address),
  bcc: z.array(Address).openapi({ description: "Of outbound messages; else empty." }),
  subject: z.string().nullable(),
  preview: z.string().openapi({ description: "The first 200 characters of the extracted text." }),
  signature: count.nullable().openapi({
    description:
      "Where the signature begins in `extracted_text`, in Unicode code points: with the line `-- `, or one " +
      "that a telephone adds. Null where there is none.",
    "x-addition": true,
  }),
  text_source: z.enum(["plain", "html", "mixed", "none"]).openapi({
    description: "What `text` was made of: text/plain parts, HTML as text, or both.",
  }),
  attachments: z.array(Attachment),
  labels: z.array(z.string()),
  read: z.boolean(),
  rfc_message_id: nullableText("The Message-ID, without brackets."),
  in_reply_to: nullableText("In-Reply-To, without brackets."),
  references: z.array(z.string()),
  size: count.openapi({ description: "Bytes of the raw message." }),
  auth: Auth.nullable().openapi({ description: "Of inbound messages." }),
  automated: z.enum(["none", "auto_reply", "bulk", "bounce"]),
  hidden_text_removed: z.boolean().openapi({
    description: "Whether text that a reader would not see was left out.",
  }),
  parse_warnings: z.array(z.string()).openapi({
    description:
      "What was cut, or could not be read, judged or believed, such as `alternatives_differ` (plain text and " +
      "HTML say different things), `styles_not_judged` and `too_complex` (the text may hold what a reader would " +
      "not see); `reply_to_unsigned` has a reply go to From.",
  }),
  codes: z.array(z.object({ value: z.string(), kind: z.enum(["numeric", "alphanumeric"]) })).max(5),
  send_at: time("When a scheduled message goes out.").nullable(),
  recipients: z.array(Recipient).openapi({ description: "Of outbound messages; else empty." }),
  created_at: time("Arrival or acceptance."),
};

/** As lists show it. */
export const MessageRow = z.object(ROW).openapi("MailMessageRow");

export const Message = z.object({
  ...ROW,
  text: z.string().nullable(),
  html: z.string().nullable(),
  extracted_text: nullableText(
    "What mail programs show, the HTML where there is one, without what it quotes.",
  ),
  headers: z.record(z.string(), z.array(z.string())),
  links: z.array(z.object({ url: z.string(), text: z.string() })),
}).openapi("MailMessage");

/** What a key without inbox:read is answered. */
export const MessageMarks = z.object({
  id: ROW.id,
  inbox_id: ROW.inbox_id,
  thread_id: ROW.thread_id,
  direction: ROW.direction,
  status: ROW.status,
  labels: ROW.labels,
  read: ROW.read,
  send_at: ROW.send_at,
  created_at: ROW.created_at,
}).strict().openapi("MailMessageMarks");

const ThreadMessage = z.object({
  ...ROW,
  text: z.string().nullable(),
  extracted_text: z.string().nullable(),
  truncated: z.boolean().openapi({ description: "Whether a text is cut at 64 KiB here." }),
}).openapi("MailThreadMessage");

const THREAD = {
  id: mailId("thr", "The thread."),
  inbox_id: mailId("ibx", "Its inbox."),
  subject: nullableText("Of its first message."),
  participants: z.array(Address).max(50),
  message_count: count,
  unread_count: count,
  last_message_id: mailId("msg", "Its newest message."),
  preview: z.string(),
  last_message_at: time("When that came."),
  created_at: time("When its first message came."),
};

/** What a key without inbox:read is answered. */
export const ThreadMarks = z.object({
  id: THREAD.id,
  inbox_id: THREAD.inbox_id,
  message_count: count,
  unread_count: count,
  last_message_id: THREAD.last_message_id,
  last_message_at: THREAD.last_message_at,
  created_at: THREAD.created_at,
}).strict().openapi("MailThreadMarks");

export const Thread = z.object(THREAD).openapi("MailThread");

export const ThreadDetail = z.object({
  ...THREAD,
  messages: z.array(ThreadMessage),
  next_cursor: z.string().nullable(),
}).openapi("MailThreadDetail");
