/** Messages that a test writes into the store beside a relay: many, or of kinds that do not come by mail. */
import {
  indexesOf,
  indexKey,
  messageKey,
  type MessageRow,
  objectKey,
} from "../../server/mail/records/message_record.ts";
import { makeUlidAbove } from "../../server/mail/records/mail_id.ts";
import { mailboxKey, type MailboxRecord } from "../../server/mail/records/mailbox_record.ts";
import {
  threadKey,
  threadOrderKey,
  type ThreadRow,
} from "../../server/mail/records/thread_record.ts";

const ROWS_A_COMMIT = 100;

/**
 * Copies of a message in its thread, above all that the inbox has. The relay must take its store for
 * a shared one; blobs are shared with the original, so that none of them may be deleted.
 * @returns their ids, ascending
 */
export async function copyMessages(
  kv: Deno.Kv,
  original: Pick<MessageRow, "orgId" | "inboxId" | "id">,
  count: number,
  change: (row: MessageRow, index: number) => Partial<MessageRow> = () => ({}),
): Promise<string[]> {
  const { orgId, inboxId } = original;
  const { value: row } = await kv.get<MessageRow>(messageKey(orgId, inboxId, original.id));
  const guard = mailboxKey(orgId, inboxId);
  const { value: found } = await kv.get<MailboxRecord>(guard);
  let mailbox = found!;
  const threadRow = threadKey(orgId, inboxId, row!.threadId);
  let thread = (await kv.get<ThreadRow>(threadRow)).value!;
  let lastOrder = thread.lastMessageId;
  const ids: string[] = [];
  let commit = kv.atomic();
  for (let i = 0; i < count; i++) {
    const ulid = makeUlidAbove(
      mailbox.headId!.slice("msg_".length),
      row!.createdAtMs,
      (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    );
    const copy: MessageRow = { ...row!, ...change(row!, i), id: `msg_${ulid}` };
    ids.push(copy.id);
    const unread = copy.read ? 0 : 1;
    mailbox = {
      ...mailbox,
      headId: copy.id,
      changes: mailbox.changes + 1,
      messages: mailbox.messages + 1,
      unread: mailbox.unread + unread,
    };
    thread = {
      ...thread,
      messageCount: thread.messageCount + 1,
      unreadCount: thread.unreadCount + unread,
      lastMessageId: copy.id,
    };
    commit.set(messageKey(orgId, inboxId, copy.id), copy);
    commit.set(objectKey(orgId, copy.id), { v: 1, inboxId });
    for (const index of indexesOf(copy)) commit.set(indexKey(orgId, inboxId, index, copy.id), 0);
    if ((i + 1) % ROWS_A_COMMIT === 0 || i + 1 === count) {
      commit.set(guard, mailbox).set(threadRow, thread);
      commit.delete(threadOrderKey(orgId, inboxId, lastOrder));
      commit.set(threadOrderKey(orgId, inboxId, copy.id), { v: 1, threadId: thread.id });
      lastOrder = copy.id;
      await commit.commit();
      commit = kv.atomic();
    }
  }
  return ids;
}
