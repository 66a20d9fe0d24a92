/** Threads as the store holds them (docs/mail.md, "Threads"). */
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";

/** A row of an inbox; as messages it changes in commits of its mailbox alone. */
export interface ThreadRow {
  v: 1;
  /** `thr_` and a ULID. */
  id: string;
  orgId: string;
  inboxId: string;
  /** Of its first message. */
  subject: string | null;
  /** The first 50 distinct ones. */
  participants: readonly MailAddress[];
  messageCount: number;
  unreadCount: number;
  lastMessageId: string;
  /** Of the last message. */
  preview: string;
  lastMessageAtMs: number;
  createdAtMs: number;
}

export const MAX_PARTICIPANTS = 50;

/** ["mail-thread", orgId, inboxId, threadId] */
export const threadKey = (orgId: string, inboxId: string, threadId: string): Deno.KvKey => [
  "mail-thread",
  orgId,
  inboxId,
  threadId,
];

/** ["mail-thread-order", orgId, inboxId, lastMessageId]: {threadId}, threads by their last message. */
export const threadOrderKey = (
  orgId: string,
  inboxId: string,
  lastMessageId: string,
): Deno.KvKey => ["mail-thread-order", orgId, inboxId, lastMessageId];

/** ["mail-rfc-id", orgId, inboxId, Message-ID]: {messageId, threadId} of the first message that bore it. */
export const rfcIdKey = (orgId: string, inboxId: string, rfcMessageId: string): Deno.KvKey => [
  "mail-rfc-id",
  orgId,
  inboxId,
  rfcMessageId,
];
