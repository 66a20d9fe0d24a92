/**
 * The body of an event (docs/mail.md, "Events"), within a size that no receiver refuses. Runs in the mail
 * worker: the texts of strangers are parsed here alone.
 */
import { cutAtBytes } from "../reading/parsed/encoded_texts.ts";

/** What a body is made of, besides the texts of its message: finished values of the API. */
export interface EventParts {
  id: string;
  type: string;
  timestamp: string;
  orgId: string;
  inboxId: string;
  /** Without its texts. */
  message: JsonRecord | null;
  thread: JsonRecord | null;
  recipient: JsonRecord | null;
  /** Without its texts. */
  draft: JsonRecord | null;
  /** JSON of the draft's texts; null where they have gone. */
  draftTexts: Uint8Array | null;
}

type JsonRecord = Record<string, unknown>;

const MOST_BYTES = 96 * 1024;
const TEXT_BYTES = 16 * 1024;
/** Texts of a body that is too large are cut further, then its lists, then what else is long. */
const SMALLER_TEXTS = [4 * 1024, 512, 0];
const SMALLER_LISTS = [20, 5, 0];
const SMALLER_LINES = [1_024, 128];

/**
 * The bytes that every webhook is sent.
 * @param rest section REST of the message's blob; empty where there is none, or it cannot be read
 */
export function eventBody(rest: Uint8Array, parts: EventParts): Uint8Array<ArrayBuffer> {
  const { id, type, timestamp, orgId, inboxId, thread, recipient } = parts;
  const message = parts.message === null ? null : withMessageTexts(parts.message, rest);
  const draft = parts.draft === null ? null : withDraftTexts(parts.draft, parts);
  const whole: JsonRecord = {
    ...(draft === null ? {} : { draft }),
    ...(message === null ? {} : { message }),
    ...(thread === null ? {} : { thread }),
    ...(recipient === null ? {} : { recipient }),
  };
  const encode = (data: JsonRecord, truncated: boolean) =>
    new TextEncoder().encode(JSON.stringify({
      id,
      type,
      timestamp,
      org_id: orgId,
      inbox_id: inboxId,
      data: { ...data, truncated },
    }));
  let data = cutTexts(whole, TEXT_BYTES);
  let bytes = encode(data, data !== whole);
  for (const cut of cuts()) {
    if (bytes.length <= MOST_BYTES) break;
    data = cut(data);
    bytes = encode(data, true);
  }
  return bytes;
}

function* cuts(): Generator<(data: JsonRecord) => JsonRecord> {
  for (const maxBytes of SMALLER_TEXTS) yield (data) => cutTexts(data, maxBytes);
  for (const most of SMALLER_LISTS) {
    yield (data) => mapObjects(data, (value) => cutList(value, most));
  }
  for (const maxBytes of SMALLER_LINES) yield (data) => cutLines(data, maxBytes) as JsonRecord;
}

/** As GET has it, without its headers. */
function withMessageTexts(message: JsonRecord, rest: Uint8Array): JsonRecord {
  if (rest.length === 0) {
    const parse_warnings = [...message["parse_warnings"] as string[], "damaged"];
    return { ...message, parse_warnings, text: null, html: null, extracted_text: null, links: [] };
  }
  const { headers: _, ...texts } = parsed(rest);
  return { ...message, ...texts };
}

function withDraftTexts(draft: JsonRecord, { draftTexts }: EventParts): JsonRecord {
  if (draftTexts === null) return { ...draft, text: null, html: null };
  const { text, html } = parsed(draftTexts);
  return { ...draft, text, html };
}

const parsed = (bytes: Uint8Array): JsonRecord => JSON.parse(new TextDecoder().decode(bytes));

const TEXTS = ["text", "html", "extracted_text"];

/** The same object where nothing of it is longer. */
function cutTexts(data: JsonRecord, maxBytes: number): JsonRecord {
  let isCut = false;
  const next = mapObjects(data, (value, name) => {
    if (!TEXTS.includes(name) || typeof value !== "string") return value;
    const text = cutAtBytes(value, maxBytes);
    isCut ||= text !== value;
    return text;
  });
  return isCut ? next : data;
}

/** The fields of message, draft, thread and recipient. */
function mapObjects(
  data: JsonRecord,
  map: (value: unknown, name: string) => unknown,
): JsonRecord {
  return Object.fromEntries(
    Object.entries(data).map(([part, fields]) => [
      part,
      Object.fromEntries(
        Object.entries(fields as JsonRecord).map(([name, value]) => [name, map(value, name)]),
      ),
    ]),
  );
}

const cutList = (value: unknown, most: number): unknown =>
  Array.isArray(value) ? value.slice(0, most) : value;

/** Every string within, however deep. */
function cutLines(value: unknown, maxBytes: number): unknown {
  if (typeof value === "string") return cutAtBytes(value, maxBytes);
  if (Array.isArray(value)) return value.map((one) => cutLines(one, maxBytes));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, cutLines(one, maxBytes)]),
  );
}
