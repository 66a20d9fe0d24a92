/**
 * Finds feed blocks by the messages in them, and holds the changes that a sweep's step makes to
 * them.
 */
import type { Rows } from "../../base/storage/rows/rows.ts";
import {
  BLOCK_SPAN,
  decodeBlock,
  type FeedBlock,
  type FeedEvent,
  feedKey,
  MAX_BLOCK_EVENTS,
} from "./feed_block.ts";

/** A block in the state after the step. */
interface OpenBlock {
  id: number;
  events: FeedEvent[];
  changed: boolean;
}

const BLOCKS_A_READ = 8;
/** Concurrent reads: each waits for the store's thread, not for the reads before it. */
const READS_AT_ONCE = 20;

export class BlockFinder {
  readonly #open = new Map<number, OpenBlock>();

  /** Messages whose blocks have all been read. */
  readonly #covered = new Set<number>();

  constructor(private readonly store: Rows) {}

  /** Reads the blocks of messages that will be asked for. */
  async prepare(messageIds: readonly number[]): Promise<void> {
    for (let from = 0; from < messageIds.length; from += READS_AT_ONCE) {
      await Promise.all(messageIds.slice(from, from + READS_AT_ONCE).map((id) => this.#cover(id)));
    }
  }

  /**
   * Removes a message's event from the block that holds it. @returns the event, or null when no
   * block does
   */
  async remove(messageId: number): Promise<FeedEvent | null> {
    for (const block of await this.#blocksNear(messageId)) {
      const at = block.events.findIndex(({ id }) => id === messageId);
      if (at < 0) continue;
      const [event] = block.events.splice(at, 1);
      block.changed = true;
      return event!;
    }
    return null;
  }

  /**
   * Puts an event into a block near it or into a new one. @returns false when a block holds it
   * already
   */
  async insert(event: FeedEvent): Promise<boolean> {
    let roomy: OpenBlock | undefined;
    for (const block of await this.#blocksNear(event.id)) {
      if (block.events.some(({ id }) => id === event.id)) return false;
      // A block under the event's own id is taken even if it is full, since no other block can have
      // that id.
      if (block.id === event.id) roomy = block;
      else if (block.events.length < MAX_BLOCK_EVENTS) roomy ??= block;
    }
    if (roomy === undefined) {
      this.#open.set(event.id, { id: event.id, events: [event], changed: true });
    } else {
      roomy.events.push(event);
      roomy.changed = true;
    }
    return true;
  }

  /** The changed blocks, to be written; an empty one is to be deleted. */
  changed(): { id: number; events: FeedEvent[] }[] {
    return [...this.#open.values()].filter((block) => block.changed);
  }

  /** Events in the changed blocks: a measure of what the commit will hold. */
  get changedEvents(): number {
    return this.changed().reduce((sum, { events }) => sum + events.length, 0);
  }

  /** The blocks that may hold an id. */
  async #blocksNear(messageId: number): Promise<OpenBlock[]> {
    await this.#cover(messageId);
    return [...this.#open.values()].filter(({ id }) =>
      id >= messageId && id <= messageId + BLOCK_SPAN
    );
  }

  async #cover(messageId: number): Promise<void> {
    if (this.#covered.has(messageId)) return;
    const selector = { start: feedKey(messageId), end: feedKey(messageId + BLOCK_SPAN + 1) };
    const rows = await this.store.list<FeedBlock>(selector, { batchSize: BLOCKS_A_READ });
    for (const { key, value } of rows) {
      const id = key[1] as number;
      if (this.#open.has(id)) continue;
      this.#open.set(id, { id, events: decodeBlock(value), changed: false });
    }
    this.#covered.add(messageId);
  }
}
