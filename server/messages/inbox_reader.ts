/** What a poll finds: a page of an inbox, and which of its messages were never delivered. */
import { Buffer } from "node:buffer";
import { inKey, type InRecord } from "../mailboxes/records.ts";
import { listRows } from "../storage/list_rows.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import type { Store } from "../storage/store.ts";
import { pollKey, type PollRecord, readKey } from "./poll_record.ts";
import { isRead, unreadGaps } from "./read_ranges.ts";
import type { InboxSelection, StoredMessage, StoredMessages } from "./stored_messages.ts";

export interface PollQuery {
  sinceId: number;
  limit: number;
  /** Only messages that were never delivered. */
  unread: boolean;
  waitMs: number;
}

export interface PollPage {
  messages: StoredMessage[];
  lastId: number;
}

/** What a poll found: its page, what of it is delivered for the first time, what that rests on. */
export interface Reading {
  page: PollPage;
  unread: StoredMessage[];
  /** Versionstamp of the poll record that was read; undefined where nothing rests on it. */
  version: string | null | undefined;
  /** To be called when the page has been stamped: others wait for their turn to read. */
  done(): void;
}

const NOTHING_READ = { read: [], overflow: false };

/** Pages up to this size give their turn back as soon as they are read. */
const SMALL_PAGE_BYTES = 256 * 1024;
const nothing = () => {};

export interface InboxReaderOptions {
  store: Store;
  records: RecordCache;
  messages: StoredMessages;
}

export class InboxReader {
  constructor(private readonly options: InboxReaderOptions) {}

  /**
   * The page of a query, without any effect.
   * @throws RelayError `unavailable` when too many pages are being read
   */
  async read(agentId: number, query: PollQuery): Promise<Reading> {
    const { sinceId } = query;
    const inbox = await this.options.records.read<InRecord>(inKey(agentId));
    if (inbox === null || inbox.head <= sinceId) {
      return { page: pageOf([], sinceId), unread: [], version: undefined, done: nothing };
    }
    const done = await this.options.messages.turns.take();
    try {
      const reading = await this.#readPage(agentId, query, inbox.head);
      if (sizeOf(reading.page) <= SMALL_PAGE_BYTES) done();
      return { ...reading, done };
    } catch (error) {
      done();
      throw error;
    }
  }

  async #readPage(
    agentId: number,
    { sinceId, limit, unread: onlyUnread }: PollQuery,
    head: number,
  ): Promise<Omit<Reading, "done">> {
    const { store, messages } = this.options;
    const { poll, version } = await this.#pollRecord(agentId);
    const nowMs = store.now();
    const selection = { recipientId: agentId, sinceId, headId: head, limit, nowMs };
    if (onlyUnread) {
      const unread = await this.#undelivered(poll, selection);
      return { page: pageOf(unread, sinceId), unread, version };
    }
    const page = pageOf(await messages.inboxPage(selection), sinceId);
    const fresh = page.messages.filter(({ id }) => !isRead(poll.read, id));
    const unread = await this.#withoutReadRows(agentId, poll, fresh);
    return { page, unread, version };
  }

  async #pollRecord(agentId: number) {
    const { records, store } = this.options;
    if (!store.exclusive) records.refresh(pollKey(agentId));
    const { value, versionstamp } = await records.load(pollKey(agentId));
    return { poll: (value as PollRecord | null) ?? NOTHING_READ, version: versionstamp };
  }

  /** The first undelivered retained messages above an id, found without the delivered ones. */
  async #undelivered(
    poll: Pick<PollRecord, "read" | "overflow">,
    selection: InboxSelection,
  ): Promise<StoredMessage[]> {
    const { messages } = this.options;
    const { recipientId, sinceId, headId, limit, nowMs } = selection;
    const found: StoredMessage[] = [];
    const first = Math.max(sinceId + 1, messages.lowestRetainedId(nowMs));
    for (const [from, last] of unreadGaps(poll.read, first)) {
      let next = from;
      while (found.length < limit && next <= Math.min(last, headId)) {
        const wanted = limit - found.length;
        const some = await messages.inboxPage({
          ...selection,
          sinceId: next - 1,
          lastId: last,
          limit: wanted,
        });
        found.push(...await this.#withoutReadRows(recipientId, poll, some));
        if (some.length < wanted) break;
        next = some.at(-1)!.id + 1;
      }
      if (found.length >= limit || last >= headId) break;
    }
    return found;
  }

  async #withoutReadRows(
    agentId: number,
    poll: Pick<PollRecord, "overflow">,
    candidates: StoredMessage[],
  ): Promise<StoredMessage[]> {
    if (!poll.overflow || candidates.length === 0) return candidates;
    const read = new Set<number>();
    const selector = {
      start: readKey(agentId, candidates[0]!.id),
      end: readKey(agentId, candidates.at(-1)!.id + 1),
    };
    for (const { key } of await listRows(this.options.store.kv, selector)) {
      read.add(key[2] as number);
    }
    return candidates.filter(({ id }) => !read.has(id));
  }
}

function sizeOf({ messages }: PollPage): number {
  let sizeBytes = 0;
  for (const { json } of messages) sizeBytes += json.length;
  return sizeBytes;
}

function pageOf(messages: StoredMessage[], sinceId: number): PollPage {
  return { messages, lastId: messages.at(-1)?.id ?? sinceId };
}

const OPENING = Buffer.from('{"messages":[');
const COMMA = Buffer.from(",");

/** The answer of GET /v1/inbox as UTF-8 JSON. */
export function encodePage({ messages, lastId }: PollPage): string | Uint8Array<ArrayBuffer> {
  if (messages.length === 0) return `{"messages":[],"last_id":${lastId}}`;
  const parts: Uint8Array[] = [OPENING];
  for (const [i, { json }] of messages.entries()) {
    if (i > 0) parts.push(COMMA);
    parts.push(json);
  }
  parts.push(Buffer.from(`],"last_id":${lastId}}`));
  return Buffer.concat(parts);
}
