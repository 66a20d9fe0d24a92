/**
 * An inbox as the person behind its agent looks at it. A look is no poll: it stamps nothing, tells nobody
 * that the agent was there, and spends no interval. It is bounded like one: its pages count with those
 * that the agent has in hand.
 */
import { Buffer } from "node:buffer";
import { RelayError } from "../../../base/errors.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import type { MessageRow } from "../rows/message_row.ts";
import type { StoredMessages } from "../rows/stored_messages.ts";
import type { PageBudget, PageReservation } from "./page_budget.ts";
import { deliveredAlone, pollKey, type PollRecord } from "./poll_record.ts";
import { isRead } from "./read_ranges.ts";

export interface LookedAtRow {
  id: number;
  senderHandle: string;
  senderWordName: string;
  createdAtMs: number;
  /** The beginning of the body as text; of what is no text, of its JSON. */
  preview: string;
  /** Whether the agent has fetched it. */
  isFetched: boolean;
}

export interface LookedAtMessage extends Pick<LookedAtRow, "id" | "isFetched"> {
  /**
   * InboxMessage as UTF-8 JSON; where its parts do not rebuild what was signed, with that as
   * `request_base64`, by which `relay verify` takes it too.
   */
  json: Uint8Array<ArrayBuffer>;
}

/** What a look gives, and the page that it holds: the caller ends that, or gives it with its answer. */
export interface Look {
  /** The newest first. */
  rows: LookedAtRow[];
  hasOlder: boolean;
  /** The one that was asked for by its id, else the newest of the rows; null where there is none. */
  chosen: LookedAtMessage | null;
  reservation: PageReservation;
}

export interface LookQuery {
  /** Rows below this id. */
  beforeId: number;
  limit: number;
  /** The message to show whole; the newest of the rows unless given. */
  chosenId?: number;
}

/** Code units of a preview: what is wider than a row is cut there. */
const PREVIEW_LENGTH = 200;
/** Bytes of a canonical body that have so many units, escapes included. */
const PREVIEW_BYTES = 6 * PREVIEW_LENGTH;
const NOTHING_READ: Pick<PollRecord, "read" | "overflow"> = { read: [], overflow: false };

export interface InboxLooksOptions {
  store: Store;
  records: RecordCache;
  messages: StoredMessages;
  pages: PageBudget;
}

export class InboxLooks {
  constructor(private readonly options: InboxLooksOptions) {}

  /**
   * Rows of an inbox and one message whole.
   * @throws RelayError `unavailable` when too many pages are in hand, `not_found` for an id that no retained
   * message of this agent has
   */
  async look(agentId: number, { beforeId, limit, chosenId }: LookQuery): Promise<Look> {
    const { store, messages, pages } = this.options;
    return await inHand(pages, agentId, async (reservation) => {
      const nowMs = store.now();
      const found = await messages.newestRows({
        ...{ recipientId: agentId, beforeId, nowMs },
        limit: limit + 1,
      });
      const shown = found.slice(0, limit);
      const wantedId = chosenId ?? shown[0]?.id;
      const chosen = wantedId === undefined ? null : await this.#whole(agentId, wantedId, nowMs);
      const ids = [...shown, ...chosen === null ? [] : [chosen]];
      const fetched = await this.#fetched(agentId, ids);
      return {
        rows: shown.map(({ id, row }) => rowOf(id, row, fetched.has(id))),
        hasOlder: found.length > limit,
        chosen: chosen && { ...chosen, isFetched: fetched.has(chosen.id) },
        reservation,
      };
    });
  }

  /** One message as JSON, as look() gives it. @throws RelayError as look() */
  async file(
    agentId: number,
    id: number,
  ): Promise<{ json: Uint8Array<ArrayBuffer>; reservation: PageReservation }> {
    const { store, pages } = this.options;
    return await inHand(pages, agentId, async (reservation) => {
      const { json } = await this.#whole(agentId, id, store.now());
      reservation.reserve(json.length);
      return { json, reservation };
    });
  }

  async #whole(recipientId: number, id: number, nowMs: number) {
    const { messages } = this.options;
    const [message] = await messages.messagesOf([{ recipientId, id }], nowMs);
    if (message === undefined) {
      throw new RelayError(
        "not_found",
        "no message of this inbox has this id: it has expired, or is in the inbox of another agent; /inbox lists what is here",
      );
    }
    const { row, json } = message;
    if (!("rawPieces" in row.request)) return { id, json: Uint8Array.from(json) };
    const request = Buffer.from(await messages.signedRequest(recipientId, id)).toString("base64");
    const last = Buffer.from(`,"request_base64":"${request}"}`);
    return { id, json: Uint8Array.from(Buffer.concat([json.subarray(0, -1), last])) };
  }

  /** Which of these the agent has fetched. */
  async #fetched(agentId: number, messages: readonly { id: number }[]): Promise<Set<number>> {
    const { store, records } = this.options;
    if (messages.length === 0) return new Set();
    if (!store.exclusive) records.refresh(pollKey(agentId));
    const { read, overflow } = await records.read<PollRecord>(pollKey(agentId)) ?? NOTHING_READ;
    const ids = messages.map(({ id }) => id).sort((a, b) => b - a);
    const alone = overflow
      ? await deliveredAlone(store, agentId, ids.map((id) => ({ id })))
      : new Set<number>();
    return new Set(ids.filter((id) => isRead(read, id) || alone.has(id)));
  }
}

/** Reads within a page's bounds; where it fails the page is given back. */
async function inHand<Result>(
  pages: PageBudget,
  agentId: number,
  read: (reservation: PageReservation) => Promise<Result>,
): Promise<Result> {
  const reservation = await pages.begin(agentId);
  try {
    const result = await read(reservation);
    reservation.endReading();
    return result;
  } catch (error) {
    reservation.end();
    throw error;
  }
}

function rowOf(
  id: number,
  { json, bodyAt, bodySizeBytes, createdAtMs }: MessageRow,
  isFetched: boolean,
) {
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  // The members before the body, as encodeMessage() writes them.
  const { from_handle, from_word_name } = JSON.parse(`${text.toString("utf8", 0, bodyAt)}null}`);
  const end = bodyAt + Math.min(bodySizeBytes, PREVIEW_BYTES);
  const preview = previewOf(text.toString("utf8", bodyAt, end), end < bodyAt + bodySizeBytes);
  return {
    id,
    senderHandle: from_handle,
    senderWordName: from_word_name,
    createdAtMs,
    preview,
    isFetched,
  };
}

/**
 * The beginning of a body in words: of a text the text, of anything else its JSON.
 * @param json canonical, or its beginning
 */
export function previewOf(json: string, isCut: boolean): string {
  const text = wordsOf(json, isCut);
  const oneLine = text.replaceAll(/\s+/g, " ").trim();
  return oneLine.length <= PREVIEW_LENGTH
    ? oneLine
    : oneLine.slice(0, PREVIEW_LENGTH).toWellFormed();
}

/** What clients send where somebody writes words: members of canonical JSON stand in order. */
const WORDS = /^\{(?:"subject":("(?:[^"\\]|\\.)*"),)?"text":(".*)$/s;

function wordsOf(json: string, isCut: boolean): string {
  if (json.startsWith('"')) return textOf(json, isCut);
  const [, subject, text] = WORDS.exec(json) ?? [];
  const end = text?.match(/^"(?:[^"\\]|\\.)*"/s)?.[0];
  if (text === undefined || (!isCut && `${end}}` !== text)) return json;
  const words = end === undefined ? textOf(text, true) : JSON.parse(end);
  return subject === undefined ? words : `${JSON.parse(subject)}: ${words}`;
}

/** The text of a JSON string, whose end may be missing. */
function textOf(json: string, isCut: boolean): string {
  if (!isCut) return JSON.parse(json);
  // A last character or escape that was cut through is left out.
  const whole = json.replace(/\ufffd+$/, "").replace(
    /(?<!\\)((?:\\\\)*)\\(?:u[0-9a-f]{0,3})?$/,
    "$1",
  );
  return JSON.parse(`${whole}"`);
}
