/** The outbox page: what an agent sent, with the time each message was first delivered. */
import { Buffer } from "node:buffer";
import type { Identities } from "../../agents/identities.ts";
import type { Identity } from "../../agents/agent_records.ts";
import { BoundedPage } from "../../../base/http/fields/bounded_page.ts";
import type { Rows } from "../../../base/storage/rows/rows.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import { timestamp } from "../../../base/time/timestamp.ts";
import { encodePage } from "../rows/encode_page.ts";
import { outboxKey, type OutboxRow } from "../rows/message_row.ts";
import { bodyOf, type StoredMessage, type StoredMessages } from "../rows/stored_messages.ts";

export interface OutboxQuery {
  sinceId: number;
  limit: number;
  /** Bytes of all rows as answered. */
  maxBytes: number;
}

/** A message as answered: an OutboxMessage as JSON. */
interface Sent {
  id: number;
  json: Uint8Array;
}

interface OutboxParts {
  store: Store;
  messages: StoredMessages;
  identities: Identities;
}

/** Messages whose bodies are read at a time: up to this many may be read beyond the end of a page. */
const READ_TOGETHER = 10;

/**
 * The first `limit` retained messages that the agent sent above an id, up to the allowed bytes, as UTF-8
 * JSON of the answer. Reads little more than it gives.
 */
export async function readOutbox(
  parts: OutboxParts,
  senderId: number,
  { sinceId, limit, maxBytes }: OutboxQuery,
): Promise<string | Uint8Array<ArrayBuffer>> {
  const nowMs = parts.store.now();
  const page = new BoundedPage<Sent>({ limit, maxBytes, sizeOf: ({ json }) => json.length });
  for await (const messages of sentMessages(parts, senderId, { sinceId, limit, nowMs })) {
    if (page.add(messages).isFull) break;
  }
  const lastId = page.rows.at(-1)?.id ?? sinceId;
  return encodePage({ messages: page.rows, lastId });
}

/** Retained messages above an id, ascending, some at a time: OutboxMessages as JSON. */
async function* sentMessages(
  { store, messages, identities }: OutboxParts,
  senderId: number,
  { sinceId, limit, nowMs }: { sinceId: number; limit: number; nowMs: number },
): AsyncGenerator<Sent[]> {
  let from = Math.max(sinceId + 1, messages.lowestRetainedId(nowMs));
  for (;;) {
    const rows = await listSent(store, senderId, from, limit);
    for (let at = 0; at < rows.length; at += READ_TOGETHER) {
      const some = rows.slice(at, at + READ_TOGETHER);
      const references = some.map(({ id, row }) => ({ recipientId: row.recipientId, id }));
      const read = await messages.messagesOf(references, nowMs);
      const shown: Sent[] = [];
      for (const [i, message] of read.entries()) {
        const { id, row } = some[i]!;
        if (message === undefined || !messages.isRetained(row.createdAtMs, nowMs)) continue;
        const to = await identities.byId(row.recipientId);
        shown.push({ id, json: encodeSent(id, row, to, message) });
      }
      yield shown;
    }
    if (rows.length < limit) return;
    from = rows.at(-1)!.id + 1;
  }
}

function encodeSent(id: number, row: OutboxRow, to: Identity, message: StoredMessage): Uint8Array {
  const deliveredAt = row.deliveredAtMs === null ? null : timestamp(row.deliveredAtMs);
  return Buffer.from(
    `{"id":${id},"to":"${to.address}","to_handle":"${to.handle}",` +
      `"to_word_name":"${to.wordName}","body":${bodyOf(message)},` +
      `"content_hash":"${message.row.contentHash}",` +
      `"created_at":"${timestamp(row.createdAtMs)}","delivered_at":${JSON.stringify(deliveredAt)}}`,
  );
}

async function listSent(
  store: Rows,
  senderId: number,
  firstId: number,
  limit: number,
): Promise<{ id: number; row: OutboxRow }[]> {
  const selector = { prefix: outboxKey.under(senderId), start: outboxKey(senderId, firstId) };
  const rows = await store.list<OutboxRow>(selector, { limit });
  return rows.map(({ key, value }) => ({ id: key[2] as number, row: value }));
}
