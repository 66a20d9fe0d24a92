/** Messages and threads as answers show them (docs/mail.md, "Messages"). Pure. */
import { timestamp } from "../../../base/time/timestamp.ts";
import { messageStatus, statusNow } from "../statuses/message_status.ts";
import { type InFlight, isSending, nothingInFlight } from "../statuses/sends_in_flight.ts";
import type { FoundAttachment } from "../../reading/parsed/parsed_mail.ts";
import type { MailAuth, MessageRow, Recipient } from "../../records/message_record.ts";
import type { ThreadRow } from "../../records/thread_record.ts";
import type { ShownHead } from "../../reading/parsed/encoded_texts.ts";
import type { ShownTexts } from "./shown_texts.ts";

/** Among parse_warnings: the texts cannot be read. */
const DAMAGED = "damaged";

/** Among them too: the message was deleted since. */
export const DELETED = "deleted";

/**
 * As lists show it: without its texts.
 * @param now from SendsInFlight.of(), like the row
 */
export function shownMessage(row: MessageRow, now: InFlight) {
  const isInbound = row.direction === "inbound";
  return {
    id: row.id,
    inbox_id: row.inboxId,
    thread_id: row.threadId,
    direction: row.direction,
    status: messageStatus(row, now.nowMs, (recipient) => isSending(now, row.id, recipient)),
    envelope: row.envelope,
    from: row.from,
    reply_to: row.replyTo,
    to: row.to,
    cc: row.cc,
    bcc: row.bcc,
    subject: row.subject,
    preview: row.preview,
    // Rows from before it was looked for have none.
    signature: row.signature ?? null,
    text_source: row.textSource,
    attachments: row.attachments.map(shownAttachment),
    labels: row.labels,
    read: row.read,
    rfc_message_id: row.rfcMessageId,
    in_reply_to: row.inReplyTo,
    references: row.references,
    size: row.blob.sections[0]!.sizeBytes,
    auth: isInbound && row.auth !== null ? shownAuth(row.auth) : null,
    automated: row.automated,
    hidden_text_removed: row.hiddenTextRemoved,
    parse_warnings: row.parseWarnings,
    codes: row.codes,
    send_at: row.sendAtMs === null ? null : timestamp(row.sendAtMs),
    recipients: row.recipients.map((recipient, i) =>
      shownRecipient(recipient, isSending(now, row.id, i))
    ),
    created_at: timestamp(row.createdAtMs),
  };
}

/** What a key sees of a message that it may mark and not read: nothing that anybody wrote. */
export function markedMessage(row: MessageRow, now: InFlight) {
  const { id, inbox_id, thread_id, direction, status, labels, read, send_at, created_at } =
    shownMessage(row, now);
  return { id, inbox_id, thread_id, direction, status, labels, read, send_at, created_at };
}

/**
 * A whole message as JSON, put together from bytes.
 * @param rest the section REST of its blob, an object of ShownTexts
 */
export function wholeMessageJson(
  row: MessageRow,
  rest: Uint8Array,
  now: InFlight,
): Uint8Array<ArrayBuffer> {
  const begin = new TextEncoder().encode(JSON.stringify(shownMessage(row, now)).slice(0, -1) + ",");
  const whole = new Uint8Array(begin.length + rest.length - 1);
  whole.set(begin);
  whole.set(rest.subarray(1), begin.length);
  return whole;
}

const NO_TEXTS: ShownTexts = {
  text: null,
  html: null,
  extracted_text: null,
  headers: {},
  links: [],
};

/** As wholeMessageJson(), of a message whose texts are damaged. */
export function damagedMessageJson(row: MessageRow, now: InFlight): Uint8Array<ArrayBuffer> {
  const message = shownMessage(row, now);
  const warnings = [...message.parse_warnings, DAMAGED];
  return new TextEncoder().encode(
    JSON.stringify({ ...message, parse_warnings: warnings, ...NO_TEXTS }),
  );
}

/** What is shown of a deleted message: nothing that anybody wrote, and no address. */
export function deletedMessage(row: MessageRow, nowMs: number) {
  return {
    ...shownMessage(row, nothingInFlight(nowMs)),
    envelope: null,
    from: null,
    reply_to: [],
    to: [],
    cc: [],
    bcc: [],
    subject: null,
    preview: "",
    attachments: [],
    labels: [],
    in_reply_to: null,
    references: [],
    codes: [],
    recipients: [],
    parse_warnings: [DELETED],
    ...NO_TEXTS,
  };
}

/**
 * As a page of a thread shows it.
 * @param head null where its bytes are damaged
 */
export function threadMessage(row: MessageRow, head: ShownHead | null, now: InFlight) {
  const message = shownMessage(row, now);
  if (head !== null) {
    const { text, extracted_text, truncated } = head;
    return { ...message, text, extracted_text, truncated };
  }
  return {
    ...message,
    parse_warnings: [...message.parse_warnings, DAMAGED],
    text: null,
    extracted_text: null,
    truncated: true,
  };
}

export function shownThread(thread: ThreadRow) {
  return {
    id: thread.id,
    inbox_id: thread.inboxId,
    subject: thread.subject,
    participants: thread.participants,
    message_count: thread.messageCount,
    unread_count: thread.unreadCount,
    last_message_id: thread.lastMessageId,
    preview: thread.preview,
    last_message_at: timestamp(thread.lastMessageAtMs),
    created_at: timestamp(thread.createdAtMs),
  };
}

/** As markedMessage(), of a thread. */
export function markedThread(thread: ThreadRow) {
  const { subject: _, participants: __, preview: ___, ...marks } = shownThread(thread);
  return marks;
}

function shownAttachment(attachment: FoundAttachment) {
  const { id, filename, contentType, sizeBytes, disposition, contentId, sha256 } = attachment;
  return {
    id,
    filename,
    content_type: contentType,
    size: sizeBytes,
    disposition,
    content_id: contentId,
    sha256,
  };
}

function shownAuth({ spf, dkim, dmarc, arc, fromDomain, verdict }: MailAuth) {
  return { spf, dkim, dmarc, arc: arc ?? "none", from_domain: fromDomain, verdict };
}

function shownRecipient(recipient: Recipient, isSent: boolean) {
  return {
    address: recipient.address,
    status: statusNow(recipient, isSent),
    smtp_code: recipient.smtpCode,
    enhanced_code: recipient.enhancedCode,
    reason: recipient.reason,
    detail: recipient.detail,
    attempts: recipient.attempts,
    next_attempt_at: recipient.nextAttemptAtMs === null
      ? null
      : timestamp(recipient.nextAttemptAtMs),
    at: timestamp(recipient.atMs),
  };
}
