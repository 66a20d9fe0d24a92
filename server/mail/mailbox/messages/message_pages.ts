/** Pages of an inbox's messages, by what they are found by (docs/mail.md, "Messages"). */
import { Buffer } from "node:buffer";
import { BoundedPage } from "../../../base/http/fields/bounded_page.ts";
import { valueSizeBytes } from "../../../base/storage/rows/stored_size.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import type { SendsInFlight } from "../statuses/sends_in_flight.ts";
import { type MessageIndex, messageKey, type MessageRow } from "../../records/message_record.ts";
import { type Messages, rangeBehind } from "./messages.ts";
import { shownMessage } from "../shown/shown_message.ts";

export interface MessageFilters {
  direction?: MessageRow["direction"];
  unread: boolean;
  hasCode: boolean;
  label?: string;
  threadId?: string;
}

export interface MessageQuery {
  filters: MessageFilters;
  order: "asc" | "desc";
  /** Id behind which the page begins, in its order; null for the first page. */
  after: string | null;
  limit: number;
}

export interface MessagePage {
  rows: MessageRow[];
  /** The same as finished JSON. */
  json: string[];
  /** Id of the last row that was looked at, given or not; null where there was none. */
  position: string | null;
  /** Whether there may be more behind it. */
  more: boolean;
}

/** Rows that a page looks at; a filter may leave out most of them. */
const ROWS_A_PAGE = 2_000;
/** And their bytes, as the store keeps them at most: large rows end a page sooner. */
const BYTES_A_PAGE = 8 * 1024 * 1024;
const ROWS_AT_ONCE = 100;

export interface MessagePagesServices {
  store: Store;
  messages: Messages;
  inFlight: Pick<SendsInFlight, "of">;
  /** Bytes of a page's rows as answered. */
  pageBytes: number;
}

export class MessagePages {
  constructor(private readonly services: MessagePagesServices) {}

  async read(orgId: string, inboxId: string, query: MessageQuery): Promise<MessagePage> {
    const { pageBytes } = this.services;
    const page = new BoundedPage<{ row: MessageRow; json: string }>({
      limit: query.limit,
      maxBytes: pageBytes,
      sizeOf: ({ json }) => Buffer.byteLength(json),
    });
    let position: string | null = null;
    let more = true;
    let lookedBytes = 0;
    const isTired = (looked: number) => looked >= ROWS_A_PAGE || lookedBytes >= BYTES_A_PAGE;
    for (let looked = 0; !isTired(looked) && more && !page.hasMore; looked += ROWS_AT_ONCE) {
      const after = position ?? query.after;
      const some = await this.#look(orgId, inboxId, { ...query, after });
      more = some.more;
      for (const { row } of some.found) lookedBytes += row === null ? 0 : valueSizeBytes(row);
      const matching = some.found.flatMap(({ row }) =>
        row !== null && matches(row, query.filters) ? [row] : []
      );
      const { rows, now } = await this.services.inFlight.of(matching);
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const { id } of some.found) {
        const row = byId.get(id);
        if (row !== undefined) {
          page.add([{ row, json: JSON.stringify(shownMessage(row, now)) }]);
          if (page.hasMore) break; // left out: the next page begins with it
        }
        position = id;
      }
    }
    return {
      rows: page.rows.map(({ row }) => row),
      json: page.rows.map(({ json }) => json),
      position,
      more: more || page.hasMore,
    };
  }

  /** The next rows by the index that leaves out most, or all. */
  async #look(
    orgId: string,
    inboxId: string,
    { filters, order, after, limit }: MessageQuery,
  ): Promise<{ found: { id: string; row: MessageRow | null }[]; more: boolean }> {
    const newest = order === "desc";
    const index = narrowest(filters);
    const count = Math.min(ROWS_AT_ONCE, limit + 1);
    if (index === null) {
      const prefix = messageKey.under(orgId, inboxId);
      const selector = rangeBehind(prefix, after, newest);
      const rows = await this.services.store.list<MessageRow>(selector, {
        limit: count,
        reverse: newest,
      });
      return {
        found: rows.map(({ value }) => ({ id: value.id, row: value })),
        more: rows.length === count,
      };
    }
    const { messages } = this.services;
    const ids = await messages.indexed(orgId, inboxId, index, {
      after,
      limit: ROWS_AT_ONCE,
      newest,
    });
    const rows = new Map(
      (await messages.readAll(orgId, inboxId, ids)).map((row) => [row.id, row]),
    );
    return {
      found: ids.map((id) => ({ id, row: rows.get(id) ?? null })),
      more: ids.length === ROWS_AT_ONCE,
    };
  }
}

function narrowest(filters: MessageFilters): MessageIndex | null {
  const { direction, unread, hasCode, label, threadId } = filters;
  if (threadId !== undefined) return ["thread", threadId];
  if (label !== undefined) return ["label", label];
  if (unread) return ["unread"];
  if (hasCode) return ["code"];
  return direction === undefined ? null : ["direction", direction];
}

function matches(
  row: MessageRow,
  { direction, unread, hasCode, label, threadId }: MessageFilters,
): boolean {
  return (direction === undefined || row.direction === direction) &&
    (!unread || !row.read) && (!hasCode || row.codes.length > 0) &&
    (label === undefined || row.labels.includes(label)) &&
    (threadId === undefined || row.threadId === threadId);
}
