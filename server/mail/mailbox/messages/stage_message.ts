/**
 * What the commits write that add, change and remove messages: the row, what it is found by, its
 * thread and the counts. Each is part of a change of its mailbox (core/mailboxes.ts), which has
 * read the rows that are named here.
 */
import type { Blobs } from "../../../base/blobs/blobs.ts";
import type { MailAddress } from "../../reading/parsed/parsed_mail.ts";
import { stageEventErasure, type StoredEvent } from "../../core/erase_events.ts";
import type { Mailbox, MailboxTransaction } from "../../core/mailboxes.ts";
import {
  indexesOf,
  indexKey,
  messageKey,
  type MessageRow,
  objectKey,
} from "../../records/message_record.ts";
import {
  MAX_PARTICIPANTS,
  rfcIdKey,
  threadKey,
  threadOrderKey,
  type ThreadRow,
} from "../../records/thread_record.ts";
import { makeMailId, makeUlidAbove } from "../../records/mail_id.ts";
import { MESSAGES_CHANGED, type MessagesChanged } from "../../records/mailbox_record.ts";
import { withdrawAnswers } from "../answers/withdraw_answer.ts";
import type { RfcIdRow } from "./find_thread.ts";

/** A message before its commit gives it an id, a thread and its time. */
export type NewMessage = Omit<MessageRow, "v" | "id" | "threadId" | "createdAtMs">;

/** What lies under the id of a message, thread or draft. */
export interface ObjectRow {
  v: 1;
  inboxId: string;
}

export interface MessageServices {
  blobs: Pick<Blobs, "keep" | "drop">;
  random: (sizeBytes: number) => Uint8Array;
}

/** Bytes that a message takes of its org's storage. Pure. */
export function storedBytes({ blob }: Pick<MessageRow, "blob">): number {
  return blob.sections.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/**
 * A message with its id, thread and time, above the newest one of its mailbox: decided before the
 * commit, which requires that the mailbox is as it was.
 */
export function identify(
  { headId }: Pick<Mailbox, "headId">,
  message: NewMessage,
  thread: Pick<ThreadRow, "id"> | null,
  { nowMs, random }: { nowMs: number; random: (sizeBytes: number) => Uint8Array },
): MessageRow {
  const head = headId === null ? null : headId.slice("msg_".length);
  return {
    ...message,
    v: 1,
    id: `msg_${makeUlidAbove(head, nowMs, random)}`,
    threadId: thread?.id ?? makeMailId("thr", nowMs, random),
    createdAtMs: nowMs,
  };
}

/**
 * Adds a message.
 * @param row as identify() made it for this change
 * @param thread as read for this change; null begins one
 * @param isFirstOfRfcId whether no message of the inbox bears its Message-ID
 */
export function stageMessage(
  { transaction, mailbox }: Pick<MailboxTransaction, "transaction" | "mailbox">,
  { blobs }: Pick<MessageServices, "blobs">,
  row: MessageRow,
  { thread, isFirstOfRfcId }: { thread: ThreadRow | null; isFirstOfRfcId: boolean },
): { mailbox: Mailbox; thread: ThreadRow } {
  const { orgId, inboxId, id, threadId } = row;
  transaction.set(messageKey(orgId, inboxId, id), row);
  transaction.set(objectKey(orgId, id), { v: 1, inboxId } satisfies ObjectRow);
  for (const index of indexesOf(row)) transaction.set(indexKey(orgId, inboxId, index, id), 0);
  if (row.rfcMessageId !== null && isFirstOfRfcId) {
    const named: RfcIdRow = { v: 1, messageId: id, threadId };
    transaction.set(rfcIdKey(orgId, inboxId, row.rfcMessageId), named);
  }
  if (thread === null) {
    transaction.set(objectKey(orgId, threadId), { v: 1, inboxId } satisfies ObjectRow);
  } else transaction.delete(threadOrderKey(orgId, inboxId, thread.lastMessageId));
  const next = withMessage(thread, row);
  putThread({ transaction }, next);
  blobs.keep(transaction, row.blob);
  return {
    thread: next,
    mailbox: {
      ...mailbox,
      headId: id,
      messages: mailbox.messages + 1,
      unread: mailbox.unread + (row.read ? 0 : 1),
    },
  };
}

function withMessage(thread: ThreadRow | null, row: MessageRow): ThreadRow {
  const people = [...(row.from === null ? [] : [row.from]), ...row.to, ...row.cc];
  return {
    v: 1,
    id: row.threadId,
    orgId: row.orgId,
    inboxId: row.inboxId,
    subject: thread === null ? row.subject : thread.subject,
    participants: addPeople(thread?.participants ?? [], people),
    messageCount: (thread?.messageCount ?? 0) + 1,
    unreadCount: (thread?.unreadCount ?? 0) + (row.read ? 0 : 1),
    lastMessageId: row.id,
    preview: row.preview,
    lastMessageAtMs: row.createdAtMs,
    createdAtMs: thread?.createdAtMs ?? row.createdAtMs,
  };
}

function addPeople(
  known: readonly MailAddress[],
  people: readonly MailAddress[],
): readonly MailAddress[] {
  if (known.length >= MAX_PARTICIPANTS) return known;
  const participants = [...known];
  const addresses = new Set(known.map(({ address }) => address.toLowerCase()));
  for (const one of people) {
    if (participants.length >= MAX_PARTICIPANTS) break;
    if (addresses.has(one.address.toLowerCase())) continue;
    addresses.add(one.address.toLowerCase());
    participants.push(one);
  }
  return participants;
}

function putThread(
  { transaction }: Pick<MailboxTransaction, "transaction">,
  thread: ThreadRow,
): void {
  const { orgId, inboxId, id, lastMessageId } = thread;
  transaction.set(threadKey(orgId, inboxId, id), thread);
  transaction.set(threadOrderKey(orgId, inboxId, lastMessageId), { v: 1, threadId: id });
}

/** Replaces a message by itself as changed: what it is found by, and the counts of unread ones, follow. */
export function stageChange(
  { transaction, mailbox }: Pick<MailboxTransaction, "transaction" | "mailbox">,
  before: MessageRow,
  after: MessageRow,
  thread: ThreadRow,
): { mailbox: Mailbox; thread: ThreadRow } {
  const { orgId, inboxId, id } = before;
  const nameOf = (index: readonly string[]) => index.join("\n");
  const kept = new Set(indexesOf(after).map(nameOf));
  const had = new Set(indexesOf(before).map(nameOf));
  for (const index of indexesOf(before)) {
    if (!kept.has(nameOf(index))) transaction.delete(indexKey(orgId, inboxId, index, id));
  }
  for (const index of indexesOf(after)) {
    if (!had.has(nameOf(index))) transaction.set(indexKey(orgId, inboxId, index, id), 0);
  }
  transaction.set(messageKey(orgId, inboxId, id), after);
  const more = Number(before.read) - Number(after.read);
  if (more === 0) return { mailbox, thread };
  const changed = { ...thread, unreadCount: thread.unreadCount + more };
  transaction.set(threadKey(orgId, inboxId, thread.id), changed);
  return { mailbox: { ...mailbox, unread: mailbox.unread + more }, thread: changed };
}

/**
 * Removes a message, and what told of it, under Idempotency-Keys and in events; an emptied thread goes
 * with it.
 * @param previous the newest message of the thread besides this one; null where it is the only one
 * @param rfcId what lies under its Message-ID
 * @param events of it, and of the draft that it was
 */
export function stageRemoval(
  { transaction, mailbox }: Pick<MailboxTransaction, "transaction" | "mailbox">,
  { blobs }: Pick<MessageServices, "blobs">,
  row: MessageRow,
  { thread, previous, rfcId, events }: {
    thread: ThreadRow;
    previous: MessageRow | null;
    rfcId: RfcIdRow | null;
    events: readonly StoredEvent[];
  },
): { mailbox: Mailbox } {
  const { orgId, inboxId, id } = row;
  transaction.delete(messageKey(orgId, inboxId, id));
  transaction.announce(
    MESSAGES_CHANGED,
    { orgId, inboxId, removed: id } satisfies MessagesChanged,
  );
  transaction.delete(objectKey(orgId, id));
  for (const index of indexesOf(row)) transaction.delete(indexKey(orgId, inboxId, index, id));
  if (row.rfcMessageId !== null && rfcId?.messageId === id) {
    transaction.delete(rfcIdKey(orgId, inboxId, row.rfcMessageId));
  }
  blobs.drop(transaction, row.blob);
  withdrawAnswers(transaction, { blobs }, row);
  stageEventErasure(transaction, { blobs }, events);
  const wasUnread = row.read ? 0 : 1;
  transaction.delete(threadOrderKey(orgId, inboxId, thread.lastMessageId));
  if (previous === null) {
    transaction.delete(threadKey(orgId, inboxId, thread.id));
    transaction.delete(objectKey(orgId, thread.id));
  } else {
    const isLast = thread.lastMessageId === id;
    putThread({ transaction }, {
      ...thread,
      messageCount: thread.messageCount - 1,
      unreadCount: thread.unreadCount - wasUnread,
      ...(isLast
        ? {
          lastMessageId: previous.id,
          preview: previous.preview,
          lastMessageAtMs: previous.createdAtMs,
        }
        : {}),
    });
  }
  return {
    mailbox: {
      ...mailbox,
      messages: mailbox.messages - 1,
      unread: mailbox.unread - wasUnread,
    },
  };
}
