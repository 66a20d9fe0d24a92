/** What every change of an inbox's messages reads, checks and writes. */
import type { Window } from "../../base/bounds/rate_window.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";

/**
 * The guard of all rows of an inbox: who changes a message or a thread writes this record in the same
 * commit, and plans on rows that were read after it; the commit checks that it has not changed since.
 */
export interface MailboxRecord {
  v: 1;
  /** Id of the newest message that there ever was; null before the first. */
  headId: string | null;
  /** Commits so far. */
  changes: number;
  messages: number;
  unread: number;
  /** Messages received within the hour, and their bytes. */
  received: Window;
  receivedBytes: Window;
  /** Messages sent within the hour; absent before the first. */
  sent?: Window;
  /** Drafts that are neither sent nor discarded; absent before the first. */
  drafts?: number;
  /** From an erasure's last commit: erasures of former versions see by it that the record has changed. */
  attempt?: string;
}

/** ["mail-mailbox", orgId, inboxId] */
export const mailboxKey = defineRecord<MailboxRecord, [orgId: string, inboxId: string]>(
  ["mail-mailbox"],
  2,
  {
    holds: "the guard of an inbox's rows: newest message, number of commits, counts, what came " +
      "within the hour. Each change of a message or a thread writes it",
  },
);

export const EMPTY_MAILBOX: MailboxRecord = {
  v: 1,
  headId: null,
  changes: 0,
  messages: 0,
  unread: 0,
  received: [],
  receivedBytes: [],
};

/** Topic (`GroupCommit.listen`) of commits after which an inbox has other messages, or has gone. */
export const MESSAGES_CHANGED = "mail-messages";

export interface MessagesChanged {
  orgId: string;
  inboxId: string;
  /** Commits of the inbox before this one; not known where the inbox has gone. */
  changes?: number;
  /** Id of a message that went with it. */
  removed?: string;
}
