/**
 * Feed events as the store holds them: the events of one group commit share a row. A row for every send
 * would cost each send a fifth of its rate. Pure.
 *
 * The id of a block is its newest event's id when it was written. A block holds no event that
 * lies more than BLOCK_SPAN below that id. Blocks that hold an id are therefore found near it,
 * although blocks of several processes overlap.
 */
import { isCounted } from "./counted.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** One counted send. */
export interface FeedEvent {
  /** The message's id. */
  id: number;
  senderId: number;
  recipientId: number;
  senderHandle: string;
  recipientHandle: string;
  createdAtMs: number;
}

/** ["feed", blockId] */
export interface FeedBlock {
  v: 1;
  /** Events by ascending id, six fields each in the order of FeedEvent. */
  events: readonly (number | string)[];
}

const FIELDS = 6;
/** 16 ms of ids: a group's ids lie within some milliseconds of each other. */
export const BLOCK_SPAN = 65_536;
/** Keeps a block with 32-character handles below half of a value's maximum size. */
export const MAX_BLOCK_EVENTS = 256;

export const feedKey = defineRow<[blockId: number]>(["feed"], 1, {
  holds: "events of the counted sends of one group commit, keyed by the newest one's message " +
    "id",
  expires: "30 d",
});

/** The feed event of a send, or null when the send is not counted. */
export function feedEventOf(send: {
  id: number;
  createdAtMs: number;
  sender: { id: number; handle: string };
  recipient: { id: number; handle: string };
}): FeedEvent | null {
  const { id, createdAtMs, sender, recipient } = send;
  if (!isCounted(sender.handle, recipient.handle)) return null;
  return {
    id,
    senderId: sender.id,
    recipientId: recipient.id,
    senderHandle: sender.handle,
    recipientHandle: recipient.handle,
    createdAtMs,
  };
}

/** Cuts events into blocks, by block id. Pure; the order of the events does not matter. */
export function packEvents(events: readonly FeedEvent[]): Map<number, FeedEvent[]> {
  const blocks = new Map<number, FeedEvent[]>();
  let block: FeedEvent[] = [];
  let blockId = Infinity;
  for (const event of [...events].sort((a, b) => b.id - a.id)) {
    if (blockId - event.id > BLOCK_SPAN || block.length >= MAX_BLOCK_EVENTS) {
      blockId = event.id;
      blocks.set(blockId, block = []);
    }
    block.push(event);
  }
  return blocks;
}

/** The row of a block. */
export function encodeBlock(events: readonly FeedEvent[]): FeedBlock {
  const flat: (number | string)[] = [];
  for (const event of [...events].sort((a, b) => a.id - b.id)) {
    const { id, senderId, recipientId, senderHandle, recipientHandle, createdAtMs } = event;
    flat.push(id, senderId, recipientId, senderHandle, recipientHandle, createdAtMs);
  }
  return { v: 1, events: flat };
}

/** The events of a block, by ascending id. */
export function decodeBlock({ events }: FeedBlock): FeedEvent[] {
  const decoded: FeedEvent[] = [];
  for (let i = 0; i < events.length; i += FIELDS) {
    decoded.push({
      id: events[i] as number,
      senderId: events[i + 1] as number,
      recipientId: events[i + 2] as number,
      senderHandle: events[i + 3] as string,
      recipientHandle: events[i + 4] as string,
      createdAtMs: events[i + 5] as number,
    });
  }
  return decoded;
}

/** When the newest event of a block was sent. */
export function newestSentMs(events: readonly FeedEvent[]): number {
  return events.reduce((newest, { createdAtMs }) => Math.max(newest, createdAtMs), 0);
}
