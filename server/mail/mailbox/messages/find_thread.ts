/** The thread that a message belongs to: the one it answers (docs/mail.md, "Threads"). */
import type { Rows } from "../../../base/storage/rows/rows.ts";
import { READ_KEYS } from "../../../base/storage/rows/backend.ts";
import { rfcIdKey, threadKey, type ThreadRow } from "../../records/thread_record.ts";

/** A row under a Message-ID: the first message of the inbox that bore it. */
export interface RfcIdRow {
  v: 1;
  messageId: string;
  threadId: string;
}

/** More than a chain of answers ever needs; a sender may name any number. */
const MAX_LOOKED_UP = 100;

/**
 * The thread of the message that In-Reply-To names, else of the last one in References that the
 * inbox has; subjects are never compared.
 * @returns null where a message begins a thread
 */
export async function findThread(
  store: Rows,
  orgId: string,
  inboxId: string,
  { inReplyTo, references }: { inReplyTo: string | null; references: readonly string[] },
): Promise<ThreadRow | null> {
  const named = new Set([...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()]);
  const keys = [...named].slice(0, MAX_LOOKED_UP).map((id) => rfcIdKey(orgId, inboxId, id));
  for (let from = 0; from < keys.length; from += READ_KEYS) { // one read at a time: the first ones mostly tell
    for (const { value } of await store.getMany<RfcIdRow[]>(keys.slice(from, from + READ_KEYS))) {
      if (value === null) continue;
      const thread = await readThread(store, orgId, inboxId, value.threadId);
      if (thread !== null) return thread;
    }
  }
  return null;
}

export async function readThread(
  store: Rows,
  orgId: string,
  inboxId: string,
  threadId: string,
): Promise<ThreadRow | null> {
  const key = threadKey(orgId, inboxId, threadId);
  return (await store.get<ThreadRow>(key)).value;
}
