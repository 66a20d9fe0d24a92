/** The outbox page: what an agent sent, with the time each message was first delivered. */
import type { Identities } from "../agents/identities.ts";
import { listRows } from "../storage/list_rows.ts";
import type { Store } from "../storage/store.ts";
import { timestamp } from "../timestamp.ts";
import { outboxKey, type OutboxRow } from "./message_row.ts";
import { bodyOf, type StoredMessages } from "./stored_messages.ts";

export interface OutboxQuery {
  sinceId: number;
  limit: number;
}

/** The first `limit` retained messages that the agent sent above an id, as UTF-8 JSON of the answer. */
export async function readOutbox(
  { store, messages, identities }: {
    store: Store;
    messages: StoredMessages;
    identities: Identities;
  },
  senderId: number,
  { sinceId, limit }: OutboxQuery,
): Promise<string> {
  const nowMs = store.now();
  const shown: string[] = [];
  let lastId = sinceId;
  let from = Math.max(sinceId + 1, messages.lowestRetainedId(nowMs));
  while (shown.length < limit) {
    const wanted = limit - shown.length;
    const rows = await listSent(store, senderId, from, wanted);
    if (rows.length === 0) break;
    from = rows.at(-1)!.id + 1;
    for (const { id, row } of rows) {
      if (!messages.isRetained(row.createdAtMs, nowMs)) continue;
      const [message] = await messages.inboxMessages(row.recipientId, [id], nowMs);
      if (message === undefined) continue;
      const to = await identities.byId(row.recipientId);
      const deliveredAt = row.deliveredAtMs === null ? null : timestamp(row.deliveredAtMs);
      shown.push(
        `{"id":${id},"to":"${to.address}","to_handle":"${to.handle}",` +
          `"to_word_name":"${to.wordName}","body":${bodyOf(message)},` +
          `"content_hash":"${message.row.contentHash}",` +
          `"created_at":"${timestamp(row.createdAtMs)}","delivered_at":${
            JSON.stringify(deliveredAt)
          }}`,
      );
      lastId = id;
    }
    if (rows.length < wanted) break;
  }
  return `{"messages":[${shown.join(",")}],"last_id":${lastId}}`;
}

async function listSent(
  { kv }: Store,
  senderId: number,
  firstId: number,
  limit: number,
): Promise<{ id: number; row: OutboxRow }[]> {
  const selector = { prefix: ["outbox", senderId], start: outboxKey(senderId, firstId) };
  const rows = await listRows<OutboxRow>(kv, selector, { limit });
  return rows.map(({ key, value }) => ({ id: key[2] as number, row: value }));
}
