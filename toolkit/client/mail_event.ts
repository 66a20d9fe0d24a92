/** What webhooks of a relay's mail area deliver, as the API shows it elsewhere (docs/mail.md). */

/** A display name and an address. */
export interface MailPerson {
  readonly name: string | null;
  readonly address: string;
}

/** What became of an outbound message at one of its recipients. */
export interface MailRecipient {
  readonly address: string;
  /** `queued`, `sending`, `deferred`, `sent`, `delivered`, `bounced`, `complained` or `failed`. */
  readonly status: string;
  readonly smtp_code: number | null;
  readonly enhanced_code: string | null;
  readonly reason: string | null;
  /** At most 200 characters of what the other side said. */
  readonly detail: string | null;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly at: string;
}

/** An attachment, without its bytes. */
export interface MailAttachment {
  readonly id: string;
  readonly filename: string | null;
  readonly content_type: string;
  /** Decoded bytes. */
  readonly size: number;
  readonly disposition: string;
  readonly content_id: string | null;
  readonly sha256: string;
}

/** A message without its headers, each of its texts cut at 16 KiB. */
export interface MailMessage {
  readonly id: string;
  readonly inbox_id: string;
  readonly thread_id: string;
  readonly direction: "inbound" | "outbound";
  readonly status: string;
  readonly envelope: { readonly from: string; readonly to: readonly string[] } | null;
  readonly from: MailPerson | null;
  readonly reply_to: readonly MailPerson[];
  readonly to: readonly MailPerson[];
  readonly cc: readonly MailPerson[];
  readonly bcc: readonly MailPerson[];
  readonly subject: string | null;
  readonly preview: string;
  readonly text: string | null;
  readonly html: string | null;
  readonly extracted_text: string | null;
  readonly signature: number | null;
  readonly text_source: "plain" | "html" | "mixed" | "none";
  readonly attachments: readonly MailAttachment[];
  readonly labels: readonly string[];
  readonly read: boolean;
  readonly rfc_message_id: string | null;
  readonly in_reply_to: string | null;
  readonly references: readonly string[];
  readonly size: number;
  readonly auth: {
    readonly spf: string;
    readonly dkim: string;
    readonly dmarc: string;
    readonly arc: string;
    readonly from_domain: string | null;
    readonly verdict: "pass" | "fail" | "error" | "none";
  } | null;
  readonly automated: "none" | "auto_reply" | "bulk" | "bounce";
  readonly hidden_text_removed: boolean;
  readonly parse_warnings: readonly string[];
  readonly codes: readonly { readonly value: string; readonly kind: string }[];
  readonly links: readonly { readonly url: string; readonly text: string }[];
  readonly send_at: string | null;
  readonly recipients: readonly MailRecipient[];
  readonly created_at: string;
}

/** The thread of a message, as it was then. */
export interface MailThread {
  readonly id: string;
  readonly inbox_id: string;
  readonly subject: string | null;
  readonly participants: readonly MailPerson[];
  readonly message_count: number;
  readonly unread_count: number;
  readonly last_message_id: string;
  readonly preview: string;
  readonly last_message_at: string;
  readonly created_at: string;
}

/** A draft that waits for a person, or that one has sent. */
export interface MailDraft {
  readonly id: string;
  readonly inbox_id: string;
  readonly in_reply_to_message_id: string | null;
  readonly to: readonly MailPerson[];
  readonly cc: readonly MailPerson[];
  readonly bcc: readonly MailPerson[];
  readonly reply_to: readonly MailPerson[];
  readonly subject: string | null;
  readonly text: string | null;
  readonly html: string | null;
  readonly html_reduced: readonly string[];
  readonly attachments: readonly MailAttachment[];
  readonly labels: readonly string[];
  readonly send_at: string | null;
  readonly revision: number;
  readonly content_hash: string;
  readonly created_by_key: string;
  readonly created_at: string;
  readonly updated_at: string;
}

interface MessageData {
  readonly message: MailMessage;
  readonly thread: MailThread;
  /** Whether something was cut, or left out; GET /v1/mail/messages/{id} has all of it. */
  readonly truncated: boolean;
}

interface DraftData {
  readonly draft: MailDraft;
  /** Whether something was cut, or left out; GET /v1/mail/drafts/{id} has all of a draft that waits. */
  readonly truncated: boolean;
}

interface EventOf<Type extends string, Data> {
  /** `evt_` and a ULID: the same in all deliveries of the event, which may be several. */
  readonly id: string;
  readonly type: Type;
  /** When it happened, RFC 3339. */
  readonly timestamp: string;
  readonly org_id: string;
  readonly inbox_id: string;
  readonly data: Data;
}

/** Types of events that are of one recipient of a message. */
export type RecipientEventType =
  | "message.delivered"
  | "message.deferred"
  | "message.bounced"
  | "message.complained"
  | "message.failed";

/** What a webhook is told. Later relays may know more types: let a `default` take them. */
export type MailEvent =
  | EventOf<"message.received" | "message.sent", MessageData>
  | EventOf<RecipientEventType, MessageData & { readonly recipient: MailRecipient }>
  | EventOf<"draft.created", DraftData>
  | EventOf<"draft.sent", DraftData & { readonly message: MailMessage }>
  | Omit<EventOf<"webhook.test", Readonly<Record<string, never>>>, "inbox_id"> & {
    readonly inbox_id: null;
  };
