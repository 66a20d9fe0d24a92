/** What a poll finds: a page of an inbox, and which of its messages were never delivered. */
import { BoundedPage } from "../../../base/http/fields/bounded_page.ts";
import { inKey, type InRecord } from "../../mailboxes/agent_mailboxes.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import type { PageBudget, PageReservation } from "./page_budget.ts";
import { deliveredAlone, pollKey, type PollRecord } from "./poll_record.ts";
import { isRead, unreadGaps } from "./read_ranges.ts";
import type { InboxSelection, StoredMessage, StoredMessages } from "../rows/stored_messages.ts";

export interface PollQuery {
  sinceId: number;
  limit: number;
  /** Only messages that were never delivered. */
  unread: boolean;
  waitMs: number;
  /** Bytes of all rows as answered. */
  maxBytes: number;
  /** Bytes of a row as answered; of its JSON unless given. */
  sizeOf?: (message: StoredMessage) => number;
}

export interface PollPage {
  messages: StoredMessage[];
  lastId: number;
  /** Whether messages were left out for their bytes. */
  isCut: boolean;
  /** The page as it is counted until its answer is taken; null for an empty one. */
  reservation: PageReservation | null;
}

/** What a poll found: its page, what of it is delivered for the first time, what that rests on. */
export interface Reading {
  page: PollPage;
  unread: StoredMessage[];
  /** Head of the mailbox that was read. */
  headId: number;
  /** Versionstamp of the poll record that was read; undefined where nothing rests on it. */
  version: string | null | undefined;
}

const NOTHING_READ = { read: [], overflow: false };

/** A tool tells messages twice, as structured content and as text with its quotes escaped. */
const TOOL_ANSWER_GROWTH = 3;

export interface InboxReaderOptions {
  store: Store;
  records: RecordCache;
  messages: StoredMessages;
  pages: PageBudget;
}

export class InboxReader {
  constructor(private readonly options: InboxReaderOptions) {}

  /**
   * The page of a query, without any effect. What is not empty is in hand: the caller ends it.
   * @throws RelayError `unavailable` when too many pages are in hand
   */
  async read(agentId: number, query: PollQuery): Promise<Reading> {
    const { sinceId } = query;
    const inbox = await this.options.records.read<InRecord>(inKey(agentId));
    if (inbox === null || inbox.head <= sinceId) {
      return {
        page: emptyPage(sinceId),
        unread: [],
        headId: inbox?.head ?? 0,
        version: undefined,
      };
    }
    const reservation = await this.options.pages.begin(agentId);
    try {
      const { found, unread, version } = await this.#readPage(agentId, query, inbox.head);
      const { rows, isCut } = found;
      const last = rows.at(-1);
      if (last === undefined) {
        reservation.end();
        return { page: emptyPage(sinceId), unread, headId: inbox.head, version };
      }
      const page = { messages: rows, lastId: last.id, isCut, reservation };
      reservation.reserve(
        query.sizeOf ? TOOL_ANSWER_GROWTH * found.sizeBytes : encodedSizeOf(page),
      );
      return { page, unread, headId: inbox.head, version };
    } catch (error) {
      reservation.end();
      throw error;
    }
  }

  /** Whether a query would find a message, without counting as a page. */
  async finds(agentId: number, query: PollQuery): Promise<boolean> {
    const inbox = await this.options.records.read<InRecord>(inKey(agentId));
    if (inbox === null || inbox.head <= query.sinceId) return false;
    const { found } = await this.#readPage(agentId, { ...query, limit: 1 }, inbox.head);
    return found.rows.length > 0;
  }

  async #readPage(
    agentId: number,
    { sinceId, limit, unread: onlyUnread, maxBytes, sizeOf = jsonSizeOf }: PollQuery,
    head: number,
  ): Promise<Pick<Reading, "unread" | "version"> & { found: BoundedPage<StoredMessage> }> {
    const { store, messages } = this.options;
    const { poll, version } = await this.#pollRecord(agentId);
    const nowMs = store.now();
    const bounds = { maxBytes, sizeOf };
    const selection = { recipientId: agentId, sinceId, headId: head, limit, nowMs, bounds };
    if (onlyUnread) {
      const found = await this.#undelivered(poll, selection);
      return { found, unread: found.rows, version };
    }
    const found = await messages.inboxPage(selection);
    const fresh = found.rows.filter(({ id }) => !isRead(poll.read, id));
    const unread = await this.#withoutReadRows(agentId, poll, fresh);
    return { found, unread, version };
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
  ): Promise<BoundedPage<StoredMessage>> {
    const { messages } = this.options;
    const { recipientId, sinceId, headId, limit, nowMs, bounds } = selection;
    const page = new BoundedPage({ ...bounds, limit });
    const first = Math.max(sinceId + 1, messages.lowestRetainedId(nowMs));
    for (const [from, last] of unreadGaps(poll.read, first)) {
      let next = from;
      while (!page.isFull && next <= Math.min(last, headId)) {
        const wanted = limit - page.rows.length;
        const some = await messages.inboxPage({
          ...selection,
          sinceId: next - 1,
          lastId: last,
          limit: wanted,
          bounds: page.left,
        });
        const unread = await this.#withoutReadRows(recipientId, poll, some.rows);
        page.add(unread);
        if (some.isCut && unread.length === some.rows.length) page.cut();
        if (page.isFull || !some.isCut && some.rows.length < wanted) break;
        next = some.rows.at(-1)!.id + 1;
      }
      if (page.isFull || last >= headId) break;
    }
    return page;
  }

  async #withoutReadRows(
    agentId: number,
    poll: Pick<PollRecord, "overflow">,
    candidates: StoredMessage[],
  ): Promise<StoredMessage[]> {
    if (!poll.overflow || candidates.length === 0) return candidates;
    const read = await deliveredAlone(this.options.store, agentId, candidates);
    return candidates.filter(({ id }) => !read.has(id));
  }
}

function jsonSizeOf({ json }: StoredMessage): number {
  return json.length;
}

/** The page of a poll that gives nothing. */
export function emptyPage(sinceId: number): PollPage {
  return { messages: [], lastId: sinceId, isCut: false, reservation: null };
}

/** Bytes of encodePage(), or a few more. */
function encodedSizeOf({ messages }: PollPage): number {
  return messages.reduce((sizeBytes, { json }) => sizeBytes + json.length + 1, 50);
}
