/** Threads as the store holds them (docs/mail.md, "Threads"). */
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** A row of an inbox; as messages it changes in commits of its mailbox alone. */
export interface ThreadRow {
  v: 1;
  /** `thr_` and a ULID. */
  id: string;
  orgId: string;
  inboxId: string;
  /** From its first message. */
  subject: string | null;
  /** The first 50 distinct ones. */
  participants: readonly MailAddress[];
  messageCount: number;
  unreadCount: number;
  lastMessageId: string;
  /** From the last message. */
  preview: string;
  lastMessageAtMs: number;
  createdAtMs: number;
}

export const MAX_PARTICIPANTS = 50;

export const threadKey = defineRow<[orgId: string, inboxId: string, threadId: string]>(
  ["mail-thread"],
  3,
  { holds: "a thread" },
);

export const threadOrderKey = defineRow<[orgId: string, inboxId: string, lastMessageId: string]>(
  ["mail-thread-order"],
  3,
  { holds: "`{threadId}`: threads by their newest message" },
);

export const rfcIdKey = defineRow<[orgId: string, inboxId: string, rfcMessageId: string]>(
  ["mail-rfc-id"],
  3,
  { holds: "the first message that bore a Message-ID, and its thread" },
);
