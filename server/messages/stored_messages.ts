/** Reading stored messages: whole ones, pages of an inbox, the signed request behind one. */
import { Buffer } from "node:buffer";
import { RelayError } from "../errors.ts";
import { lowestIdAt } from "../storage/id_sequence.ts";
import { listRows } from "../storage/list_rows.ts";
import { retryWhileLocked } from "../storage/lock_retry.ts";
import type { Store } from "../storage/store.ts";
import {
  inboxKey,
  type MessageRow,
  outboxKey,
  type OutboxRow,
  pieceKey,
  rawKey,
  rebuildRequest,
} from "./message_row.ts";
import { createdAtOf, decodeRow } from "./row_codec.ts";

const GET_MANY = 10;

export interface StoredMessage {
  id: number;
  row: MessageRow;
  /** InboxMessage as UTF-8 JSON. */
  json: Uint8Array;
}

export class StoredMessages {
  readonly retentionMs: number;

  constructor(private readonly store: Store, retentionDays: number) {
    this.retentionMs = retentionDays * 86_400_000;
  }

  /** Whether a message of this age is still there. A time ahead of the clock counts as now. */
  isRetained(createdAtMs: number, nowMs: number): boolean {
    return nowMs - createdAtMs < this.retentionMs;
  }

  /** Below this id every message has expired: ids never lag behind their creation. */
  lowestRetainedId(nowMs: number): number {
    return lowestIdAt(nowMs - this.retentionMs);
  }

  /** The first `limit` retained messages of an inbox above an id and up to another, ascending. */
  async inboxPage(
    recipientId: number,
    sinceId: number,
    limit: number,
    nowMs: number,
    lastId = Number.MAX_SAFE_INTEGER - 1,
  ): Promise<StoredMessage[]> {
    const first = Math.max(sinceId + 1, this.lowestRetainedId(nowMs));
    if (first > lastId) return [];
    const selector = {
      start: inboxKey(recipientId, first),
      end: inboxKey(recipientId, Math.min(lastId, Number.MAX_SAFE_INTEGER - 1) + 1),
    };
    const rows = await listRows<Uint8Array>(this.store.kv, selector, {
      limit,
      take: ({ value }) => this.isRetained(createdAtOf(value), nowMs),
    });
    return await this.#complete(
      rows.map(({ key, value }) => ({ id: key[2] as number, row: decodeRow(value) })),
    );
  }

  /** The retained ones of these messages of an inbox, in the order given. */
  async inboxMessages(
    recipientId: number,
    ids: readonly number[],
    nowMs: number,
  ): Promise<StoredMessage[]> {
    const rows = await this.#getMany<Uint8Array>(ids.map((id) => inboxKey(recipientId, id)));
    const found: { id: number; row: MessageRow }[] = [];
    for (const [i, bytes] of rows.entries()) {
      if (bytes === null || !this.isRetained(createdAtOf(bytes), nowMs)) continue;
      found.push({ id: ids[i]!, row: decodeRow(bytes) });
    }
    return await this.#complete(found);
  }

  /**
   * The exact bytes that were signed for a message, for its sender or recipient.
   * @throws RelayError `not_found` for anybody else, an unknown or an expired message
   */
  async signedRequest(readerId: number, id: number): Promise<Uint8Array> {
    const nowMs = this.store.now();
    const [received] = await this.inboxMessages(readerId, [id], nowMs);
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
    const sent = await retryWhileLocked(() =>
      this.store.kv.get<OutboxRow>(outboxKey(senderId, id))
    );
    if (sent.value === null) return undefined;
    return (await this.inboxMessages(sent.value.recipientId, [id], nowMs))[0];
  }

  /** Messages with their pieces put together. */
  async #complete(found: { id: number; row: MessageRow }[]): Promise<StoredMessage[]> {
    if (found.every(({ row }) => row.pieces === 0)) {
      return found.map(({ id, row }) => ({ id, row, json: row.json }));
    }
    return await Promise.all(found.map(async ({ id, row }) => {
      if (row.pieces === 0) return { id, row, json: row.json };
      const keys = Array.from({ length: row.pieces }, (_, i) => pieceKey(id, i + 1));
      const rest = present(await this.#getMany<Uint8Array>(keys));
      return { id, row, json: Buffer.concat([row.json, ...rest]) };
    }));
  }

  async #getMany<T>(keys: Deno.KvKey[]): Promise<(T | null)[]> {
    const values: (T | null)[] = [];
    for (let from = 0; from < keys.length; from += GET_MANY) {
      const some = keys.slice(from, from + GET_MANY);
      const rows = await retryWhileLocked(() => this.store.kv.getMany<T[]>(some));
      for (const row of rows) values.push(row.value as T | null);
    }
    return values;
  }
}

/** The canonical body of a stored message. */
export function bodyOf({ row, json }: StoredMessage): string {
  return Buffer.from(json.buffer, json.byteOffset, json.byteLength)
    .toString("utf8", row.bodyAt, row.bodyAt + row.bodySizeBytes);
}

function present<T>(values: (T | null)[]): T[] {
  if (values.includes(null)) throw new Error("a piece of a retained message is missing");
  return values as T[];
}
