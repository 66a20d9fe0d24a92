import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64 } from "@scure/base";
import { AddressError } from "./address_error.ts";
import { parseCanonicalString, type SignedParts } from "./canonical_string.ts";
import { decodeAddress } from "./decode_address.ts";
import { type MessageSnapshot, readMessage } from "./inbox_message.ts";
import { matchCandidates } from "./match_candidates.ts";
import { matchRequest } from "./match_request.ts";
import { MessageError } from "./message_error.ts";
import type { MessageReport } from "./message_report.ts";
import { type Recipient, type RecipientForms, recipientForms } from "./recipient.ts";
import { verifySignature } from "./verify_signature.ts";

/** What {@linkcode verifyMessage} takes in addition to the message. */
export interface VerifyMessageOptions {
  /** The recipient; without it (and without a request) the body cannot be bound. */
  readonly recipient?: Recipient;
  /** The sender's address as known from elsewhere. Without it anybody may have signed. */
  readonly from?: string;
  /** The raw signed request, as GET /v1/messages/{id}/signed-request gives it. */
  readonly request?: Uint8Array;
  /** The largest difference allowed between the signed time and `created_at`. */
  readonly maxSkewSeconds?: number;
}

/**
 * Verifies a received message offline and reports each verdict separately.
 *
 * No verdict proves who holds a key, or that a handle or a word name belongs to it. Nor does one
 * prove whom the message was for, unless it is bound with addressee `key`. The signed time is what
 * the sender's clock said, not the time of sending. First delivery, completeness and order are not
 * proven (drop repeats by sender and signature). Nor is the relay that it was sent through, or
 * anything about an unbound body.
 *
 * @param message an InboxMessage, untrusted: each field is read once
 * @param options who received it, who should have sent it, the raw request, the allowed skew
 * @returns the report; a false signature is a verdict
 * @throws {MessageError} `malformed_message` or `invalid_option`, with the field
 * @see service specification 2.5, 5.1
 *
 * @example
 * ```ts
 * import * as relay from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * // What a sender sends ...
 * const [sender, recipient] = [relay.generateKeyPair(), relay.generateKeyPair()];
 * const body = { text: "hello" };
 * const { canonicalString, signature } = relay.signRequest({
 *   method: "POST",
 *   path: "/v1/messages",
 *   body: new TextEncoder().encode(relay.canonicalJson({ to: recipient.address, body })),
 *   timestamp: 1760000000,
 * }, sender.privateKey);
 *
 * // ... and what the recipient finds in its inbox.
 * const message: relay.InboxMessage = {
 *   id: 1,
 *   from: sender.address,
 *   from_handle: "some_sender",
 *   from_word_name: relay.wordName(sender.publicKey),
 *   body,
 *   content_hash: relay.contentHash(body),
 *   signature,
 *   canonical_string: canonicalString,
 *   in_reply_to: null,
 *   content_type: "text",
 *   created_at: "2025-10-09T08:53:20.250Z",
 * };
 * const report = await relay.verifyMessage(message, {
 *   recipient: { address: recipient.address },
 *   from: sender.address,
 *   maxSkewSeconds: 300,
 * });
 * assert.deepEqual(report, {
 *   canonicalString: "ok",
 *   signature: "valid",
 *   sender: "pinned",
 *   contentHash: "match",
 *   body: "bound",
 *   addressee: "key",
 *   age: { signedAt: "2025-10-09T08:53:20.000Z", skewSeconds: 0.25, within: true },
 * });
 * assert.equal(relay.overall(report), "proven");
 * ```
 */
export async function verifyMessage(
  message: unknown,
  options: VerifyMessageOptions = {},
): Promise<MessageReport> {
  const snapshot = readMessage(message);
  const { from, maxSkewSeconds, recipient, request } = checkedOptions(options);
  const text = snapshot.canonicalString;
  const signed = text === null ? undefined : messageParts(text);
  const binding = bind(snapshot, signed, recipient, request);
  return {
    canonicalString: text === null ? "absent" : signed === undefined ? "malformed" : "ok",
    signature: text === null ? "not-checkable" : await signatureVerdict(snapshot, text),
    sender: from === undefined ? "not-pinned" : from === snapshot.from ? "pinned" : "mismatch",
    contentHash: hashHex(snapshot.body) === snapshot.contentHash ? "match" : "mismatch",
    ...binding,
    age: age(signed, snapshot.createdAtMs, maxSkewSeconds),
  };
}

/** The options, each read once; null, which programs without types pass, counts as absent. */
function checkedOptions(options: VerifyMessageOptions | null) {
  const { from, maxSkewSeconds, recipient, request } = options ?? {};
  if (from != null) {
    try {
      decodeAddress(from);
    } catch (thrown) {
      const reason = thrown instanceof AddressError ? thrown.message : "it is not a string";
      throw new MessageError("invalid_option", "from", `is no address: ${reason}`);
    }
  }
  if (maxSkewSeconds != null && !(typeof maxSkewSeconds === "number" && maxSkewSeconds >= 0)) {
    throw new MessageError("invalid_option", "maxSkewSeconds", "must be a number from 0");
  }
  if (request != null && !ArrayBuffer.isView(request)) {
    throw new MessageError("invalid_option", "request", "must be the raw bytes (Uint8Array)");
  }
  return {
    from: from ?? undefined,
    maxSkewSeconds: maxSkewSeconds ?? undefined,
    recipient: recipient == null ? undefined : recipientForms(recipient),
    request: request == null ? undefined : new Uint8Array(request),
  };
}

/** The parts of a signed string, if it belongs to a sent message and not to another request. */
function messageParts(text: string): SignedParts | undefined {
  const parts = parseCanonicalString(text);
  return parts?.method === "POST" && parts.path === "/v1/messages" ? parts : undefined;
}

async function signatureVerdict(
  { signature, senderKey }: MessageSnapshot,
  text: string,
): Promise<"valid" | "invalid"> {
  const bytes = signatureBytes(signature);
  // A lone surrogate has no UTF-8 form; encoding would sign another string in its place.
  if (bytes === undefined || !text.isWellFormed()) return "invalid";
  return await verifySignature(utf8ToBytes(text), bytes, senderKey) ? "valid" : "invalid";
}

/** The last digit carries four bits, so that a signature has one spelling only. */
const SIGNATURE = /^[A-Za-z0-9+/]{85}[AQgw]==$/;

function signatureBytes(text: string): Uint8Array | undefined {
  return SIGNATURE.test(text) ? base64.decode(text) : undefined;
}

function bind(
  message: MessageSnapshot,
  signed: SignedParts | undefined,
  recipient: RecipientForms | undefined,
  request: Uint8Array | undefined,
): Pick<MessageReport, "body" | "addressee"> {
  const isAbsent = message.canonicalString === null;
  if (request === undefined && (recipient === undefined || isAbsent)) {
    return { body: "not-checked", addressee: "unknown" };
  }
  const addressee = signed && (
    (recipient && matchCandidates(message, recipient, signed.bodyHash)) ??
      (request && matchRequest(request, message, recipient, signed.bodyHash))
  );
  return addressee === undefined
    ? { body: "unbound", addressee: "unknown" }
    : { body: "bound", addressee };
}

function hashHex(canonicalBody: string): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalBody)));
}

/** The last second of the year 9999, after which RFC 3339 has no dates. */
const LAST_SECOND = 253402300799;

function age(
  signed: SignedParts | undefined,
  createdAtMs: number,
  maxSkewSeconds: number | undefined,
): MessageReport["age"] {
  if (signed === undefined) return { signedAt: null, skewSeconds: null, within: null };
  const { timestamp } = signed;
  const skewSeconds = (createdAtMs - timestamp * 1000) / 1000;
  return {
    signedAt: timestamp <= LAST_SECOND ? new Date(timestamp * 1000).toISOString() : null,
    skewSeconds,
    within: maxSkewSeconds === undefined ? null : Math.abs(skewSeconds) <= maxSkewSeconds,
  };
}
