/** Reading stored messages: whole ones, pages of an inbox, the signed request behind one. */
import { Buffer } from "node:buffer";
import { RelayError } from "../../../base/errors.ts";
import { BoundedPage, type PageBounds } from "../../../base/http/fields/bounded_page.ts";
import { lowestIdAt } from "../../../base/storage/commits/id_sequence.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import {
  inboxKey,
  type MessageRow,
  outboxKey,
  type OutboxRow,
  PIECE_BYTES,
  pieceKey,
  rawKey,
  rebuildRequest,
} from "./message_row.ts";
import { FollowedPurges } from "./followed_purges.ts";
import { present, readWhole } from "./read_whole.ts";
import type { RecentMessage, RecentMessages } from "./recent_messages.ts";
import { createdAtOf, decodeRow } from "./row_codec.ts";
import { DAY_MS } from "../../../base/time/time_units.ts";
import { MAX_ID } from "../../../base/bounds/max_id.ts";

/** Messages whose pieces are read at a time: up to this many may be read beyond the end of a page. */
const JOINED_TOGETHER = 8;
/** The id behind it, where a range ends, is an integer too. */
const LAST_READ_ID = MAX_ID - 1;

export interface StoredMessage {
  id: number;
  row: MessageRow;
  /** InboxMessage as UTF-8 JSON. */
  json: Uint8Array;
}

/** Which messages of an inbox a page is made of. */
export interface InboxSelection {
  recipientId: number;
  sinceId: number;
  /** No later message than this one; every later one unless given. */
  lastId?: number;
  /** Head of the inbox, read before. */
  headId: number;
  limit: number;
  nowMs: number;
  /** How much of it a page may hold. */
  bounds: Omit<PageBounds<StoredMessage>, "limit">;
}

/** Which messages of an inbox its owner looks at. */
export interface NewestSelection extends Pick<InboxSelection, "recipientId" | "limit" | "nowMs"> {
  beforeId: number;
}

/** Rows of the first read: half as many again as the largest ones that a page can hold. */
function firstRead(maxBytes: number): number {
  return Math.ceil(1.5 * maxBytes / PIECE_BYTES) + 1;
}

/** A message by the inbox that holds it. */
export interface MessageReference {
  recipientId: number;
  id: number;
}

export class StoredMessages {
  readonly retentionMs: number;
  readonly #purges: FollowedPurges;

  constructor(
    private readonly store: Store,
    retentionDays: number,
    private readonly recent: RecentMessages,
  ) {
    this.retentionMs = retentionDays * DAY_MS;
    this.#purges = new FollowedPurges(store, recent);
  }

  /** Whether a message of this age is still there. A time ahead of the clock counts as now. */
  isRetained(createdAtMs: number, nowMs: number): boolean {
    return nowMs - createdAtMs < this.retentionMs;
  }

  /** Below this id every message has expired: ids never lag behind their creation. */
  lowestRetainedId(nowMs: number): number {
    return lowestIdAt(nowMs - this.retentionMs);
  }

  /**
   * The first `limit` retained messages of an inbox above an id and up to another, ascending, as far
   * as the bytes reach. Little more is read than is given.
   */
  async inboxPage(
    { recipientId, sinceId, lastId = LAST_READ_ID, headId, limit, nowMs, bounds }: InboxSelection,
  ): Promise<BoundedPage<StoredMessage>> {
    const first = Math.max(sinceId + 1, this.lowestRetainedId(nowMs));
    const last = Math.min(lastId, LAST_READ_ID);
    const page = new BoundedPage(bounds);
    if (first > last) return page;
    if (!this.store.exclusive) await this.#purges.refresh();
    const recent = this.recent.from(recipientId, first, headId);
    if (recent !== null) return page.add(this.#pageOfRecent(recent, last, limit, nowMs));
    return await readWhole(() =>
      this.#storedPage({
        recipientId,
        sinceId: first - 1,
        lastId: last,
        headId,
        limit,
        nowMs,
        bounds,
      })
    );
  }

  async #storedPage(
    { recipientId, sinceId, lastId, limit, nowMs, bounds }: Required<InboxSelection>,
  ): Promise<BoundedPage<StoredMessage>> {
    const page = new BoundedPage(bounds);
    let from = sinceId + 1;
    let wanted = Math.min(limit, firstRead(bounds.maxBytes));
    for (;;) {
      const selector = {
        start: inboxKey(recipientId, from),
        end: inboxKey(recipientId, lastId + 1),
      };
      const listed = await this.store.list<Uint8Array>(selector, {
        limit: wanted,
        take: ({ value }) => this.isRetained(createdAtOf(value), nowMs),
      });
      const rows = listed.map(({ key, value }) => ({
        id: key[2] as number,
        row: decodeRow(value),
      }));
      await this.#append(page, rows);
      if (page.isCut || listed.length < wanted || page.rows.length >= limit) return page;
      from = rows.at(-1)!.id + 1;
      const left = (bounds.maxBytes - page.sizeBytes) / page.sizeBytes * page.rows.length;
      wanted = Math.min(limit - page.rows.length, Math.ceil(left) + 1);
    }
  }

  /**
   * The newest retained messages of an inbox below an id, the newest first: as much of each as its first
   * value holds.
   */
  async newestRows(
    { recipientId, beforeId, limit, nowMs }: NewestSelection,
  ): Promise<RecentMessage[]> {
    const firstId = this.lowestRetainedId(nowMs);
    if (beforeId <= firstId) return [];
    const selector = {
      start: inboxKey(recipientId, firstId),
      end: inboxKey(recipientId, Math.min(beforeId, LAST_READ_ID)),
    };
    const rows = await this.store.list<Uint8Array>(selector, {
      limit,
      reverse: true,
      take: ({ value }) => this.isRetained(createdAtOf(value), nowMs),
    });
    return rows.map(({ key, value }) => ({ id: key[2] as number, row: decodeRow(value) }));
  }

  /** Adds messages to a page up to the one that no longer fits. */
  async #append(
    page: BoundedPage<StoredMessage>,
    rows: readonly RecentMessage[],
  ): Promise<void> {
    const isWhole = rows.every(({ row }) => row.pieces === 0);
    const together = isWhole ? rows.length : JOINED_TOGETHER;
    for (let at = 0; at < rows.length && !page.isCut; at += together) {
      const some = rows.slice(at, at + together);
      const messages = isWhole
        ? some.map(({ id, row }) => ({ id, row, json: row.json }))
        : await Promise.all(some.map(({ id, row }) => this.#whole(id, row)));
      page.add(messages);
    }
  }

  *#pageOfRecent(
    recent: readonly RecentMessage[],
    lastId: number,
    limit: number,
    nowMs: number,
  ): Generator<StoredMessage> {
    let given = 0;
    for (const { id, row } of recent) {
      if (id > lastId || given >= limit) return;
      if (!this.isRetained(row.createdAtMs, nowMs)) continue;
      given++;
      yield { id, row, json: row.json };
    }
  }

  /** The retained one of each of these messages, in the order given; undefined for what has expired. */
  async messagesOf(
    references: readonly MessageReference[],
    nowMs: number,
  ): Promise<(StoredMessage | undefined)[]> {
    if (!this.store.exclusive) await this.#purges.refresh();
    return await readWhole(() => this.#messagesOf(references, nowMs));
  }

  async #messagesOf(
    references: readonly MessageReference[],
    nowMs: number,
  ): Promise<(StoredMessage | undefined)[]> {
    const rows = references.map(({ recipientId, id }) => this.recent.find(recipientId, id)?.row);
    const missing = [...rows.keys()].filter((i) => rows[i] === undefined);
    const read = await this.#getMany<Uint8Array>(missing.map((i) => {
      const { recipientId, id } = references[i]!;
      return inboxKey(recipientId, id);
    }));
    for (const [n, i] of missing.entries()) {
      const bytes = read[n];
      if (bytes) rows[i] = decodeRow(bytes);
    }
    return await Promise.all(references.map(({ id }, i) => {
      const row = rows[i];
      const isThere = row !== undefined && this.isRetained(row.createdAtMs, nowMs);
      return isThere ? this.#whole(id, row) : undefined;
    }));
  }

  /**
   * The exact bytes that were signed for a message, for its sender or recipient.
   * @throws RelayError `not_found` for anybody else, an unknown or an expired message
   */
  async signedRequest(readerId: number, id: number): Promise<Uint8Array<ArrayBuffer>> {
    return await readWhole(() => this.#signedRequest(readerId, id));
  }

  async #signedRequest(readerId: number, id: number): Promise<Uint8Array<ArrayBuffer>> {
    const nowMs = this.store.now();
    const [received] = await this.messagesOf([{ recipientId: readerId, id }], nowMs);
    const message = received ?? await this.#sentMessage(readerId, id, nowMs);
    if (message === undefined) {
      throw new RelayError(
        "not_found",
        "no retained message of yours has this id: signed requests are given to sender and recipient for as long as the message is kept",
      );
    }
    const { row, json } = message;
    if ("rawPieces" in row.request) {
      const keys = Array.from({ length: row.request.rawPieces }, (_, i) => rawKey(id, i));
      return Buffer.concat(present(await this.#getMany<Uint8Array>(keys)));
    }
    const { content_type, in_reply_to } = JSON.parse(Buffer.from(json).toString());
    const body = bodyOf(message);
    return Buffer.from(
      rebuildRequest(row.request, { body, contentType: content_type, inReplyTo: in_reply_to }),
    );
  }

  async #sentMessage(
    senderId: number,
    id: number,
    nowMs: number,
  ): Promise<StoredMessage | undefined> {
    const sent = await this.store.get<OutboxRow>(outboxKey(senderId, id));
    if (sent.value === null) return undefined;
    const { recipientId } = sent.value;
    return (await this.messagesOf([{ recipientId, id }], nowMs))[0];
  }

  /** A message with its pieces put together. */
  #whole(id: number, row: MessageRow): StoredMessage | Promise<StoredMessage> {
    return row.pieces === 0 ? { id, row, json: row.json } : this.#joined(id, row);
  }

  async #joined(id: number, row: MessageRow): Promise<StoredMessage> {
    const keys = Array.from({ length: row.pieces }, (_, i) => pieceKey(id, i + 1));
    const rest = present(await this.#getMany<Uint8Array>(keys));
    return { id, row, json: Buffer.concat([row.json, ...rest]) };
  }

  async #getMany<T>(keys: Deno.KvKey[]): Promise<(T | null)[]> {
    return (await this.store.getMany<T[]>(keys)).map(({ value }) => value);
  }
}

/** The canonical body of a stored message. */
export function bodyOf({ row, json }: StoredMessage): string {
  return Buffer.from(json.buffer, json.byteOffset, json.byteLength)
    .toString("utf8", row.bodyAt, row.bodyAt + row.bodySizeBytes);
}
