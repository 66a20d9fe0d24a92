/**
 * The newest messages of inboxes, in memory. Most polls ask for what was stored just now, and get
 * it without a read of the store. Memory is bounded in bytes and by inbox; the oldest messages
 * leave first.
 *
 * Memory holds the end of an inbox, without a gap. Each message is taken together with the head
 * that it was committed upon. A message that does not follow the last one starts over. That holds
 * on shared stores too, where other processes write to the same inbox.
 */
import { BoundedMap } from "../../../base/bounds/bounded_map.ts";
import { IdQueue } from "./id_queue.ts";
import type { MessageRow } from "./message_row.ts";

export interface RecentMessage {
  id: number;
  row: MessageRow;
}

/** The end of one inbox: every message of it above `afterId` and up to `lastId`, ascending. */
interface End {
  recipientId: number;
  afterId: number;
  lastId: number;
  messages: RecentMessage[];
}

export interface RecentMessagesBounds {
  /** Bytes of all messages, each counted with `OVERHEAD_BYTES`. */
  bytes: number;
  messagesAnInbox: number;
  /** Greatest message that is kept. */
  messageBytes: number;
}

/** Measured: memory that a kept message takes in addition to its JSON. */
const OVERHEAD_BYTES = 1_200;
/** Purges that are remembered, so that no late commit of their messages is taken. */
const PURGES = 10_000;
const BOUNDS: RecentMessagesBounds = {
  bytes: 32 * 1024 * 1024,
  messagesAnInbox: 400,
  messageBytes: 16 * 1024,
};

export class RecentMessages {
  readonly #ends = new Map<number, End>();
  /** By message id. */
  readonly #messages = new Map<number, { message: RecentMessage; end: End }>();
  /** Ids in order of arrival, including messages that have left. */
  readonly #order = new IdQueue();
  /** By sender id: messages below this id are gone. */
  readonly #purged = new BoundedMap<number, number>(PURGES);
  #bytes = 0;

  constructor(private readonly bounds: RecentMessagesBounds = BOUNDS) {}

  /** Bytes that are kept now, as the bound counts them. */
  get sizeBytes(): number {
    return this.#bytes;
  }

  /**
   * Takes a message that has been committed; one that is too large to be kept leaves its place empty.
   * @param previousId head of the inbox when the message was committed; 0 before the first one
   */
  add(recipientId: number, previousId: number, id: number, row: MessageRow): void {
    let end = this.#ends.get(recipientId);
    if (end === undefined || end.lastId !== previousId) {
      if (end !== undefined) this.#forget(end, end.messages.length);
      end = { recipientId, afterId: previousId, lastId: previousId, messages: [] };
      this.#ends.set(recipientId, end);
    }
    end.lastId = id;
    if (id < (this.#purged.get(row.senderId) ?? 0)) {
      // Committed before its sender was banned, announced late: in the store it is gone.
    } else if (row.pieces > 0 || row.json.length > this.bounds.messageBytes) {
      this.#forget(end, end.messages.length);
      end.afterId = id;
    } else {
      const message = { id, row };
      end.messages.push(message);
      this.#messages.set(id, { message, end });
      this.#order.push(id, this.#messages);
      this.#bytes += sizeOf(message);
      if (end.messages.length > this.bounds.messagesAnInbox) this.#forget(end, 1);
      while (this.#bytes > this.bounds.bytes) this.#forgetOldest();
    }
    if (end.messages.length === 0) this.#ends.delete(recipientId);
  }

  /**
   * Every message of an inbox from an id on, ascending, or null where not all of them are here.
   * @param headId head of the inbox as the caller knows it; later messages may be among the answer
   */
  from(recipientId: number, firstId: number, headId: number): readonly RecentMessage[] | null {
    const end = this.#ends.get(recipientId);
    if (end === undefined || firstId <= end.afterId || end.lastId < headId) return null;
    const { messages } = end;
    let low = 0;
    let high = messages.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (messages[middle]!.id < firstId) low = middle + 1;
      else high = middle;
    }
    return messages.slice(low);
  }

  /** One message of an inbox, or undefined where it is not here. */
  find(recipientId: number, id: number): RecentMessage | undefined {
    const found = this.#messages.get(id);
    return found?.end.recipientId === recipientId ? found.message : undefined;
  }

  /** Forgets what an agent sent below an id, for good: it leaves no gap, since it leaves the store. */
  purge(senderId: number, beforeId: number): void {
    this.#purged.set(senderId, Math.max(beforeId, this.#purged.get(senderId) ?? 0));
    for (const { message, end } of [...this.#messages.values()]) {
      if (message.row.senderId !== senderId || message.id >= beforeId) continue;
      end.messages.splice(end.messages.indexOf(message), 1);
      this.#bytes -= sizeOf(message);
      this.#messages.delete(message.id);
      if (end.messages.length === 0) this.#ends.delete(end.recipientId);
    }
  }

  #forgetOldest(): void {
    const { end } = this.#messages.get(this.#order.takeOldest(this.#messages)!)!;
    this.#forget(end, 1);
    if (end.messages.length === 0) this.#ends.delete(end.recipientId);
  }

  #forget(end: End, count: number): void {
    for (const message of end.messages.splice(0, count)) {
      end.afterId = message.id;
      this.#bytes -= sizeOf(message);
      this.#messages.delete(message.id);
    }
  }
}

function sizeOf({ row }: RecentMessage): number {
  return row.json.length + OVERHEAD_BYTES;
}
