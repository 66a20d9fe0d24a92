import { canonicalJson } from "./canonical_json.ts";
import { decodeAddress } from "./decode_address.ts";
import type { JsonValue } from "./json_value.ts";
import { MessageError } from "./message_error.ts";

/** How a body is to be read. */
export type ContentType = "text" | "json";

/**
 * A received message, as GET /v1/inbox gives it.
 *
 * @see service specification 2.5
 */
export interface InboxMessage {
  readonly id: number;
  /** The sender's address. */
  readonly from: string;
  readonly from_handle: string;
  readonly from_word_name: string;
  /** For content type json the parsed document. */
  readonly body: JsonValue;
  /** SHA-256 of the body's canonical JSON, 64 lowercase hex digits. */
  readonly content_hash: string;
  /** Standard base64 of 64 bytes. */
  readonly signature: string;
  /** The exact string that the sender signed; null only for rows older than its storage. */
  readonly canonical_string: string | null;
  readonly in_reply_to: number | null;
  readonly content_type: ContentType;
  /** RFC 3339. */
  readonly created_at: string;
}

/** What the verifier needs of a message, each field of the untrusted object read once. */
export interface MessageSnapshot {
  readonly from: string;
  readonly senderKey: Uint8Array;
  /** The body's canonical JSON. */
  readonly body: string;
  readonly contentHash: string;
  readonly signature: string;
  readonly canonicalString: string | null;
  readonly inReplyTo: number | null;
  readonly contentType: ContentType;
  readonly createdAtMs: number;
}

/**
 * Reads a message from an untrusted object. Extra fields are ignored.
 *
 * @throws {MessageError} `malformed_message` with the field
 */
export function readMessage(message: unknown): MessageSnapshot {
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    throw new MessageError("malformed_message", "", "a message is a JSON object");
  }
  const read = (field: keyof InboxMessage): unknown => (message as Record<string, unknown>)[field];
  const from = string("from", read("from"));
  positiveInteger("id", read("id"));
  string("from_handle", read("from_handle"));
  string("from_word_name", read("from_word_name"));
  return {
    from,
    senderKey: senderKey(from),
    body: canonicalBody(read("body")),
    contentHash: string("content_hash", read("content_hash")),
    signature: string("signature", read("signature")),
    canonicalString: orNull(string, "canonical_string", read("canonical_string")),
    inReplyTo: orNull(positiveInteger, "in_reply_to", read("in_reply_to")),
    contentType: contentType(read("content_type")),
    createdAtMs: dateTime("created_at", read("created_at")),
  };
}

function malformed(field: keyof InboxMessage, value: unknown, wanted: string): MessageError {
  return new MessageError(
    "malformed_message",
    field,
    value === undefined ? `is missing: it must be ${wanted}` : `must be ${wanted}`,
  );
}

function string(field: keyof InboxMessage, value: unknown): string {
  if (typeof value === "string") return value;
  throw malformed(field, value, field === "canonical_string" ? "a string or null" : "a string");
}

function positiveInteger(field: keyof InboxMessage, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  const wanted = "a whole number from 1 to 2^53-1";
  throw malformed(field, value, field === "in_reply_to" ? `${wanted}, or null` : wanted);
}

function orNull<T>(
  reader: (field: keyof InboxMessage, value: unknown) => T,
  field: keyof InboxMessage,
  value: unknown,
): T | null {
  return value === null ? null : reader(field, value);
}

function senderKey(from: string): Uint8Array {
  try {
    return decodeAddress(from);
  } catch {
    throw new MessageError("malformed_message", "from", "must be an address (base58 of 32 bytes)");
  }
}

function canonicalBody(body: unknown): string {
  if (body === undefined) throw malformed("body", body, "a JSON value");
  try {
    return canonicalJson(body as JsonValue);
  } catch {
    throw malformed("body", body, "a JSON value without lone surrogates");
  }
}

function contentType(value: unknown): ContentType {
  if (value === "text" || value === "json") return value;
  throw malformed("content_type", value, '"text" or "json"');
}

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

function dateTime(field: keyof InboxMessage, value: unknown): number {
  const text = string(field, value);
  const [, year, month, day] = DATE_TIME.exec(text)?.map(Number) ?? [];
  // Date.parse takes the 30th of February for the 2nd of March; many calendars have no year 0.
  const isDay = day !== undefined && year! > 0 &&
    new Date(Date.UTC(year!, month! - 1, day)).getUTCDate() === day;
  const ms = isDay ? Date.parse(text) : NaN;
  if (!Number.isNaN(ms)) return ms;
  throw malformed(field, value, "a date and time as RFC 3339 writes it");
}
