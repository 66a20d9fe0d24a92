/** The messages that a step of a purge deletes, with every row of them. */
import type { Rows } from "../../base/storage/rows/rows.ts";
import { inboxKey, outboxKey, pieceKey, rawKey } from "../messages/rows/message_row.ts";
import { decodeRow } from "../messages/rows/row_codec.ts";
import { listSent } from "../network/mailbox_walk.ts";

export interface DoomedMessage {
  id: number;
  /** Keys of all its rows. */
  keys: Deno.KvKey[];
}

/** The rows of a message hold bodies, so few are read at a time. */
const ROWS_A_READ = 10;
/** When a step has this many rows, it takes no further message, so that it fits a commit. */
const KEYS_A_STEP = 500;

/**
 * What an agent sent below an id, newest first.
 * @returns the messages, and whether there may be more below the last one
 */
export async function listDoomed(
  store: Rows,
  senderId: number,
  beforeId: number,
  maxMessages: number,
): Promise<{ messages: DoomedMessage[]; more: boolean }> {
  const sent = await listSent(store, senderId, beforeId, maxMessages);
  const messages: DoomedMessage[] = [];
  let keys = 0;
  for (let from = 0; from < sent.length && keys < KEYS_A_STEP; from += ROWS_A_READ) {
    const some = sent.slice(from, from + ROWS_A_READ);
    const rows = await store.getMany<Uint8Array[]>(
      some.map(({ id, recipientId }) => inboxKey(recipientId, id)),
    );
    for (const [i, { id, recipientId }] of some.entries()) {
      const message = { id, keys: rowsOf(senderId, recipientId, id, rows[i]!.value) };
      messages.push(message);
      keys += message.keys.length;
    }
  }
  return { messages, more: messages.length < sent.length || sent.length === maxMessages };
}

/** @param bytes the row in the inbox; null where nothing is left but the one in the outbox */
function rowsOf(
  senderId: number,
  recipientId: number,
  id: number,
  bytes: Uint8Array | null,
): Deno.KvKey[] {
  const keys = [outboxKey(senderId, id)];
  if (bytes === null) return keys;
  const { pieces, request } = decodeRow(bytes);
  const rawPieces = "rawPieces" in request ? request.rawPieces : 0;
  keys.push(inboxKey(recipientId, id));
  for (let i = 1; i <= pieces; i++) keys.push(pieceKey(id, i));
  for (let i = 0; i < rawPieces; i++) keys.push(rawKey(id, i));
  return keys;
}
