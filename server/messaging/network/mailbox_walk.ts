/** How a sweep goes through the mailbox of its agent, newest message first. */
import type { Rows } from "../../base/storage/rows/rows.ts";
import { inboxKey, outboxKey, type OutboxRow } from "../messages/rows/message_row.ts";
import { decodeRow } from "../messages/rows/row_codec.ts";
import type { SweepRecord } from "./sweep_record.ts";

export interface SweptMessage {
  id: number;
  createdAtMs: number;
  senderId: number;
  recipientId: number;
}

/** Inbox rows hold bodies, so fewer of them are read at a time. */
const INBOX_BATCH = 100;

/**
 * The next messages of a walk.
 * @returns the messages, and the record for when they are done; null when the walk is then over
 */
export async function walkMailbox(
  store: Rows,
  agentId: number,
  sweep: SweepRecord,
  maxMessages: number,
): Promise<{ messages: SweptMessage[]; next: SweepRecord | null }> {
  const { box, beforeId } = sweep;
  const limit = box === "outbox" ? maxMessages : Math.min(INBOX_BATCH, maxMessages);
  const listBox = box === "outbox" ? listSent : listReceived;
  const messages = await listBox(store, agentId, beforeId, limit);
  if (messages.length === limit) {
    return { messages, next: { ...sweep, beforeId: messages.at(-1)!.id } };
  }
  if (box === "inbox") return { messages, next: null };
  return { messages, next: { ...sweep, box: "inbox", beforeId: sweep.inboxBeforeId } };
}

/** What an agent sent below an id, newest first. */
export async function listSent(
  store: Rows,
  senderId: number,
  beforeId: number,
  limit: number,
): Promise<SweptMessage[]> {
  const selector = { prefix: outboxKey.under(senderId), end: outboxKey(senderId, beforeId) };
  const rows = await store.list<OutboxRow>(selector, { reverse: true, limit });
  return rows.map(({ key, value: { recipientId, createdAtMs } }) => (
    { id: key[2] as number, createdAtMs, senderId, recipientId }
  ));
}

async function listReceived(
  store: Rows,
  recipientId: number,
  beforeId: number,
  limit: number,
): Promise<SweptMessage[]> {
  const selector = { prefix: inboxKey.under(recipientId), end: inboxKey(recipientId, beforeId) };
  const rows = await store.list<Uint8Array>(selector, { reverse: true, limit });
  return rows.map(({ key, value }) => {
    const { senderId, createdAtMs } = decodeRow(value);
    return { id: key[2] as number, createdAtMs, senderId, recipientId };
  });
}
