/** What a request to send asks for, as plain data (docs/mail.md, "A message"). */
import type { Limits } from "../../base/config/limits.ts";
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";

/** Limits of one outgoing message. */
export type MessageLimits = Pick<
  Limits,
  "mailRecipientsPerMessage" | "mailBodyBytes" | "mailAttachments" | "mailRequestBytes"
>;

/** Each address once, at the first place that names it. */
export interface Recipients {
  to: MailAddress[];
  cc: MailAddress[];
  bcc: MailAddress[];
}

export interface MessageBodies {
  /** Not empty; null where there is none. */
  text: string | null;
  html: string | null;
}

export interface NewAttachment {
  /** One line of 1 to 255 code points, without / and \. */
  filename: string;
  /** Lowercased type and subtype, at most with a charset behind them. */
  contentType: string;
  /** Without brackets; what has one stands inline. */
  contentId: string | null;
  content: Uint8Array<ArrayBuffer>;
}

/** A header field of the sender's own: its name begins with X-. */
export interface ExtraHeader {
  name: string;
  /** One line. */
  value: string;
}

/** What a new message and a draft of one have in common. */
export interface MessageContent extends Recipients, MessageBodies {
  /** One line; null for none. */
  subject: string | null;
  attachments: NewAttachment[];
  replyTo: MailAddress[];
  labels: string[];
  /** Unix ms; null for at once. */
  sendAtMs: number | null;
}
