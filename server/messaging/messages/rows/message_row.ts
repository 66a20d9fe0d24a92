/**
 * A message as the store holds it: the answer of the inbox as finished JSON bytes, cut into pieces
 * that fit a value. A page then needs one list and no serialising.
 */
import { Buffer } from "node:buffer";
import type { Identity } from "../../agents/agent_records.ts";
import { timestamp } from "../../../base/time/timestamp.ts";
import type { SendRequest } from "./send_request.ts";
import { defineRow } from "../../../base/storage/rows/row_key.ts";

/** ["inbox", recipientId, messageId], stored as the bytes that row_codec.ts describes. */
export interface MessageRow {
  senderId: number;
  createdAtMs: number;
  contentHash: string;
  /** Offset of the canonical body in the JSON bytes, and its size. */
  bodyAt: number;
  bodySizeBytes: number;
  /** How to give the signed request again: its form where the parts rebuild it, else how many raw pieces are kept. */
  request: RequestForm | { rawPieces: number };
  /** InboxMessage (specification, 2.5) as UTF-8 JSON: all of it, or its beginning. */
  json: Uint8Array;
  /** How many further pieces stand under ["piece", messageId, n]. */
  pieces: number;
}

/** How the fields stood in a signed request that is RFC 8785 JSON of nothing but its known fields. */
export interface RequestForm {
  to: string;
  inReplyTo: SendRequest["written"]["inReplyTo"];
  contentType: SendRequest["written"]["contentType"];
}

/** ["outbox", senderId, messageId] */
export interface OutboxRow {
  v: 1;
  recipientId: number;
  /** Null until the recipient first fetched the message. */
  deliveredAtMs: number | null;
  createdAtMs: number;
}

export const inboxKey = defineRow<[recipientId: number, messageId: number]>(["inbox"], 2, {
  holds: "bytes: a header of 64 (`row_codec.ts`), then the InboxMessage as finished JSON",
  expires: "30 d",
});
export const outboxKey = defineRow<[senderId: number, messageId: number]>(["outbox"], 2, {
  holds: "the recipient, delivered_at",
  expires: "30 d",
});
export const pieceKey = defineRow<[messageId: number, n: number]>(["piece"], 2, {
  holds: "what of the bytes of a message does not fit the first value (60,000 bytes each)",
  expires: "30 d",
});
export const rawKey = defineRow<[messageId: number, n: number]>(["raw"], 2, {
  holds: "the signed request, only where the stored parts do not rebuild it byte for byte",
  expires: "30 d",
});

/** Bytes of one stored piece; a value may hold 65,536 with its frame. */
export const PIECE_BYTES = 60_000;

const encoder = new TextEncoder();

/** What is known of a message before its id: everything that costs time is done outside the commit. */
export interface Envelope {
  sender: Identity;
  recipientId: number;
  request: SendRequest;
  /** Standard base64 of the 64-byte signature. */
  signature: string;
  canonicalString: string;
}

/** The stored bytes of a message. */
export function encodeMessage(
  { sender, request, signature, canonicalString }: Envelope,
  id: number,
  createdAtMs: number,
): { json: Uint8Array; bodyAt: number } {
  const head = `{"id":${id},"from":"${sender.address}","from_handle":"${sender.handle}",` +
    `"from_word_name":"${sender.wordName}","body":`;
  const tail = `,"content_hash":"${request.contentHash}","signature":"${signature}",` +
    `"canonical_string":"${canonicalString}","in_reply_to":${request.inReplyTo},` +
    `"content_type":"${request.contentType}","created_at":"${timestamp(createdAtMs)}"}`;
  return { json: encoder.encode(head + request.body + tail), bodyAt: head.length };
}

/** Cuts bytes into pieces that fit one value each. */
export function cutIntoPieces(bytes: Uint8Array): Uint8Array[] {
  const { buffer, length } = bytes;
  if (length <= PIECE_BYTES && buffer.byteLength === length) return [bytes];
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    // A copy: the store serialises the whole buffer behind a view, and Buffer shares one.
    pieces.push(new Uint8Array(bytes.subarray(from, from + PIECE_BYTES)));
  }
  return pieces;
}

/** The form of a raw request that its parts rebuild byte for byte, or null where the raw bytes must be kept. */
export function formOf(request: SendRequest, raw: Uint8Array): RequestForm | null {
  const form = { to: request.to, ...request.written };
  const rebuilt = Buffer.from(rebuildRequest(form, request));
  return rebuilt.equals(raw) ? form : null;
}

/** The RFC 8785 bytes of a send request with these parts, members sorted. */
export function rebuildRequest(
  form: RequestForm,
  message: { body: string; contentType: string; inReplyTo: number | null },
): string {
  const body = message.contentType === "json" ? JSON.stringify(message.body) : message.body;
  let text = `{"body":${body}`;
  if (form.contentType !== "absent") {
    text += `,"content_type":${form.contentType === "null" ? "null" : `"${message.contentType}"`}`;
  }
  if (form.inReplyTo !== "absent") text += `,"in_reply_to":${message.inReplyTo}`;
  return `${text},"to":${JSON.stringify(form.to)}}`;
}
