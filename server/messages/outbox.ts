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

interface OutboxParts {
  store: Store;
  messages: StoredMessages;
  identities: Identities;
}

/**
 * The first `limit` retained messages that the agent sent above an id, as UTF-8 JSON of the answer.
 * @throws RelayError `unavailable` when too many pages are being read
 */
export async function readOutbox(
  parts: OutboxParts,
  senderId: number,
  query: OutboxQuery,
): Promise<string> {
  const done = await parts.messages.turns.take();
  try {
    return await readPage(parts, senderId, query);
  } finally {
    done();
  }
}

async function readPage(
  { store, messages, identities }: OutboxParts,
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
    const references = rows.map(({ id, row }) => ({ recipientId: row.recipientId, id }));
    for (const [i, message] of (await messages.messagesOf(references, nowMs)).entries()) {
      const { id, row } = rows[i]!;
      if (message === undefined || !messages.isRetained(row.createdAtMs, nowMs)) continue;
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
