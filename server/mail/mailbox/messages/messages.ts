/** Messages of inboxes: found, marked, removed, one at a time and by the thread. */
import type { Blobs } from "../../../base/blobs/blobs.ts";
import { READ_KEYS } from "../../../base/storage/rows/backend.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import { valueSizeBytes } from "../../../base/storage/rows/stored_size.ts";
import type { MailCaller } from "../../access/authenticate_key.ts";
import type { CallingKey } from "../../access/require_org.ts";
import { count } from "../../records/figures_record.ts";
import { countsOfRemoved } from "../../records/removed_recipients.ts";
import { EVENTS_A_COMMIT, readEvents, stageEventErasure } from "../../core/erase_events.ts";
import type { Mailboxes, MailboxTransaction } from "../../core/mailboxes.ts";
import {
  indexKey,
  type MessageIndex,
  messageKey,
  type MessageRow,
  objectKey,
} from "../../records/message_record.ts";
import { isMailId } from "../../records/mail_id.ts";
import { rfcIdKey, type ThreadRow } from "../../records/thread_record.ts";
import { unknownObject } from "../../access/unknown_object.ts";
import { readThread, type RfcIdRow } from "./find_thread.ts";
import { type ObjectRow, stageChange, stageRemoval } from "./stage_message.ts";

export interface MessagesServices {
  store: Store;
  mailboxes: Mailboxes;
  blobs: Pick<Blobs, "keep" | "drop">;
}

/** What a caller changes of a message. */
export interface MessageChanges {
  read?: boolean;
  addLabels: readonly string[];
  removeLabels: readonly string[];
}

/** Messages that one commit of a change to a whole thread writes. */
const MESSAGES_A_COMMIT = 200;
/** Bytes of messages at which it takes no further ten, which are at most 480 KB. */
const BYTES_A_COMMIT = 200_000;

export class Messages {
  constructor(private readonly services: MessagesServices) {}

  /**
   * The message that a path names, as the caller may see it.
   * @throws RelayError `not_found`
   */
  async find(caller: MailCaller, messageId: string): Promise<MessageRow> {
    const inboxId = isMailId("msg", messageId) ? await this.#inboxOf(caller, messageId) : null;
    const row = inboxId === null ? null : await this.read(caller.org.id, inboxId, messageId);
    if (row === null) throw unknownObject("message");
    return row;
  }

  /** As find(), of a thread. */
  async findThread(caller: MailCaller, threadId: string): Promise<ThreadRow> {
    const inboxId = isMailId("thr", threadId) ? await this.#inboxOf(caller, threadId) : null;
    const thread = inboxId === null
      ? null
      : await readThread(this.services.store, caller.org.id, inboxId, threadId);
    return requireThread(thread);
  }

  async #inboxOf({ org, key }: MailCaller, id: string): Promise<string | null> {
    const { store, mailboxes } = this.services;
    const { value } = await store.get<ObjectRow>(objectKey(org.id, id));
    if (value === null || (key.scope === "inbox" && key.inboxId !== value.inboxId)) return null;
    return await mailboxes.has(org.id, value.inboxId) ? value.inboxId : null;
  }

  async read(orgId: string, inboxId: string, messageId: string): Promise<MessageRow | null> {
    const key = messageKey(orgId, inboxId, messageId);
    return (await this.services.store.get<MessageRow>(key)).value;
  }

  /** Rows of messages in the order of their ids; those that have gone are left out. */
  async readAll(
    orgId: string,
    inboxId: string,
    messageIds: readonly string[],
  ): Promise<MessageRow[]> {
    const keys = messageIds.map((id) => messageKey(orgId, inboxId, id));
    const rows = await this.services.store.getMany<MessageRow[]>(keys);
    return rows.map(({ value }) => value).filter((row) => row !== null);
  }

  /**
   * Changes a message in a commit of its mailbox.
   * @param change makes the message as it is to be, or says null where nothing changes
   * @throws RelayError `not_found` where it has gone meanwhile, and what requireCaller() and change() throw
   */
  async change(
    caller: CallingKey,
    { orgId, inboxId, id }: Pick<MessageRow, "orgId" | "inboxId" | "id">,
    change: (row: MessageRow, given: MailboxTransaction) => MessageRow | null,
  ): Promise<MessageRow> {
    const { mailboxes, store } = this.services;
    return await mailboxes.change(caller, inboxId, async () => {
      const row = await this.read(orgId, inboxId, id);
      if (row === null) throw unknownObject("message");
      const thread = await readThread(store, orgId, inboxId, row.threadId);
      if (thread === null) throw new Error("a message has no thread");
      return {
        plan(given) {
          const changed = change(row, given);
          if (changed === null) return { mailbox: given.mailbox, result: row };
          return { ...stageChange(given, row, changed, thread), result: changed };
        },
      };
    });
  }

  /**
   * Removes a message with its bytes and events, for good; one that has gone already is no error.
   * @param caller null where no key asks for it
   * @throws RelayError as requireCaller()
   */
  async remove(
    caller: CallingKey | null,
    ref: Pick<MessageRow, "orgId" | "inboxId" | "id">,
  ): Promise<void> {
    while (await this.#removeSome(caller, ref));
  }

  /** One commit. @returns whether there is more to do: the message goes with the last of its events */
  async #removeSome(
    caller: CallingKey | null,
    { orgId, inboxId, id }: Pick<MessageRow, "orgId" | "inboxId" | "id">,
  ): Promise<boolean> {
    const { mailboxes, store, blobs } = this.services;
    return await mailboxes.change<boolean>(caller ?? orgId, inboxId, async () => {
      const row = await this.read(orgId, inboxId, id);
      const thread = row && await readThread(store, orgId, inboxId, row.threadId);
      if (row === null || thread === null) {
        return { plan: ({ mailbox }) => ({ mailbox, result: false }) };
      }
      const { rfcMessageId, draftId } = row;
      const objects = draftId === undefined ? [id] : [id, draftId];
      const events = await readEvents(store, orgId, inboxId, objects);
      if (events.length === EVENTS_A_COMMIT) {
        return {
          plan({ transaction, mailbox }) {
            stageEventErasure(transaction, { blobs }, events);
            return { mailbox, result: true };
          },
        };
      }
      const previous = await this.#newestBesides(row);
      const rfcId = rfcMessageId === null
        ? null
        : (await store.get<RfcIdRow>(rfcIdKey(orgId, inboxId, rfcMessageId))).value;
      return {
        plan(given) {
          const removed = countsOfRemoved(row);
          if (Object.keys(removed).length > 0) {
            count(given.transaction, orgId, row.createdAtMs, removed);
          }
          return {
            ...stageRemoval(given, { blobs }, row, { thread, previous, rfcId, events }),
            result: false,
          };
        },
      };
    });
  }

  async #newestBesides({ orgId, inboxId, threadId, id }: MessageRow): Promise<MessageRow | null> {
    const ids = await this.indexed(orgId, inboxId, ["thread", threadId], {
      limit: 2,
      newest: true,
    });
    const other = ids.find((one) => one !== id);
    return other === undefined ? null : await this.read(orgId, inboxId, other);
  }

  /**
   * Ids of messages by one index, in their order.
   * @param after id behind which the list begins, in its direction
   */
  async indexed(
    orgId: string,
    inboxId: string,
    index: MessageIndex,
    { after = null, limit, newest }: { after?: string | null; limit: number; newest: boolean },
  ): Promise<string[]> {
    const prefix = indexKey(orgId, inboxId, index, "").slice(0, -1);
    const selector = rangeBehind(prefix, after, newest);
    const rows = await this.services.store.list(selector, { limit, reverse: newest });
    return rows.map(({ key }) => key.at(-1) as string);
  }

  /**
   * Marks all messages of a thread, some hundred a commit; those that come meanwhile stay as they are.
   * @returns the thread as the last commit left it
   * @throws RelayError as markMessages()
   */
  async markThread(caller: CallingKey, thread: ThreadRow, read: boolean): Promise<ThreadRow> {
    const { orgId, inboxId, id } = thread;
    for (let after: string | null = null;;) {
      const ids: string[] = await this.indexed(orgId, inboxId, ["thread", id], {
        after,
        limit: MESSAGES_A_COMMIT,
        newest: false,
      });
      const meant = ids.filter((one) => one <= thread.lastMessageId);
      if (meant.length === 0) break;
      after = await this.#markSome(caller, thread, meant, read);
    }
    return requireThread(await readThread(this.services.store, orgId, inboxId, id));
  }

  /**
   * Marks some messages of a thread, in as many commits.
   * @param messageIds in their order
   * @returns the thread as the last commit left it
   * @throws RelayError `not_found` where it has gone meanwhile, and as requireCaller()
   */
  async markMessages(
    caller: CallingKey,
    thread: ThreadRow,
    messageIds: readonly string[],
    read: boolean,
  ): Promise<ThreadRow> {
    const { orgId, inboxId, id } = thread;
    for (let at = 0; at < messageIds.length;) {
      const some = messageIds.slice(at, at + MESSAGES_A_COMMIT);
      const last = await this.#markSome(caller, thread, some, read);
      at = messageIds.indexOf(last) + 1;
    }
    return requireThread(await readThread(this.services.store, orgId, inboxId, id));
  }

  /** @returns id of the last message that is marked now */
  async #markSome(
    caller: CallingKey,
    { orgId, inboxId, id }: ThreadRow,
    messageIds: readonly string[],
    read: boolean,
  ): Promise<string> {
    const { mailboxes, store } = this.services;
    return await mailboxes.change(caller, inboxId, async () => {
      const thread = await readThread(store, orgId, inboxId, id);
      const rows: MessageRow[] = [];
      let bytes = 0;
      let last = messageIds[0]!;
      for (let at = 0; at < messageIds.length && bytes < BYTES_A_COMMIT; at += READ_KEYS) {
        const some = messageIds.slice(at, at + READ_KEYS);
        for (const row of await this.readAll(orgId, inboxId, some)) {
          if (row.direction === "outbound" || row.read === read) continue;
          rows.push(row);
          bytes += valueSizeBytes(row);
        }
        last = some.at(-1)!;
      }
      return {
        sizeBytes: bytes,
        plan(given) {
          let { mailbox } = given;
          let current = thread;
          for (const row of rows) {
            if (current === null) break;
            const changed = stageChange({ ...given, mailbox }, row, { ...row, read }, current);
            ({ mailbox, thread: current } = changed);
          }
          return { mailbox, result: last };
        },
      };
    });
  }
}

/** @throws RelayError `not_found` */
function requireThread(thread: ThreadRow | null): ThreadRow {
  if (thread === null) throw unknownObject("thread");
  return thread;
}

/** The rows of a prefix behind one, in either direction. */
export function rangeBehind(
  prefix: Deno.KvKey,
  after: string | null,
  newest: boolean,
): Deno.KvListSelector {
  if (after === null) return { prefix };
  return newest
    ? { prefix, end: [...prefix, after] }
    : { prefix, start: [...prefix, `${after}\u0000`] };
}
