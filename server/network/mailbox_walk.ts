/** How a sweep goes through the mailbox of its agent, newest message first. */
import { inboxKey, outboxKey, type OutboxRow } from "../messages/rows/message_row.ts";
import { decodeRow } from "../messages/rows/row_codec.ts";
import { retryWhileLocked } from "../storage/lock_retry.ts";
import type { SweepRecord } from "./sweep_record.ts";

export interface SweptMessage {
  id: number;
  createdAtMs: number;
  senderId: number;
  recipientId: number;
}

/** Inbox rows hold bodies, so fewer of them are read at one time. */
const INBOX_BATCH = 100;

/**
 * The next messages of a walk.
 * @returns the messages, and the record for when they are done; null when the walk is then over
 */
export async function walkMailbox(
  kv: Deno.Kv,
  agentId: number,
  sweep: SweepRecord,
  maxMessages: number,
): Promise<{ messages: SweptMessage[]; next: SweepRecord | null }> {
  const { box, beforeId } = sweep;
  const limit = box === "outbox" ? maxMessages : Math.min(INBOX_BATCH, maxMessages);
  const messages = await retryWhileLocked(() =>
    box === "outbox"
      ? listSent(kv, agentId, beforeId, limit)
      : listReceived(kv, agentId, beforeId, limit)
  );
  if (messages.length === limit) {
    return { messages, next: { ...sweep, beforeId: messages.at(-1)!.id } };
  }
  if (box === "inbox") return { messages, next: null };
  return { messages, next: { ...sweep, box: "inbox", beforeId: sweep.inboxBeforeId } };
}

async function listSent(
  kv: Deno.Kv,
  senderId: number,
  beforeId: number,
  limit: number,
): Promise<SweptMessage[]> {
  const messages: SweptMessage[] = [];
  const selector = { prefix: ["outbox", senderId], end: outboxKey(senderId, beforeId) };
  for await (const { key, value } of kv.list<OutboxRow>(selector, { reverse: true, limit })) {
    const { recipientId, createdAtMs } = value;
    messages.push({ id: key[2] as number, createdAtMs, senderId, recipientId });
  }
  return messages;
}

async function listReceived(
  kv: Deno.Kv,
  recipientId: number,
  beforeId: number,
  limit: number,
): Promise<SweptMessage[]> {
  const messages: SweptMessage[] = [];
  const selector = { prefix: ["inbox", recipientId], end: inboxKey(recipientId, beforeId) };
  for await (const { key, value } of kv.list<Uint8Array>(selector, { reverse: true, limit })) {
    const { senderId, createdAtMs } = decodeRow(value);
    messages.push({ id: key[2] as number, createdAtMs, senderId, recipientId });
  }
  return messages;
}
