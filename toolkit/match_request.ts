import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { canonicalJson } from "./canonical_json.ts";
import type { MessageSnapshot } from "./inbox_message.ts";
import { isWordNameOf } from "./is_word_name_of.ts";
import { JsonError } from "./json_error.ts";
import type { JsonObject, JsonValue } from "./json_value.ts";
import { parseStrict } from "./parse_strict.ts";
import { type Addressee, normalHandle, type RecipientForms } from "./recipient.ts";

/**
 * Tells whether a raw request is the one that was signed and says what the message says, and in
 * which form it addresses the recipient.
 *
 * It binds a message when its hash is the signed one and each of its parts is the message's. `to`
 * must not name anybody but the recipient, where that can be told.
 *
 * @param request the raw bytes, as GET /v1/messages/{id}/signed-request gives them
 * @param message what was received
 * @param recipient who received it, or undefined: then whom `to` names is not checked
 * @param bodyHash the hash in the canonical string, 64 lowercase hex digits
 * @returns the form (`unknown` when it cannot be told), or undefined when the request does not bind
 */
export function matchRequest(
  request: Uint8Array,
  message: MessageSnapshot,
  recipient: RecipientForms | undefined,
  bodyHash: string,
): Addressee | "unknown" | undefined {
  if (bytesToHex(sha256(request)) !== bodyHash) return undefined;
  const parts = parseObject(request);
  if (parts === undefined) return undefined;
  const { to, body, in_reply_to: inReplyTo = null, content_type: contentType } = parts;
  const isSameMessage = typeof to === "string" && body !== undefined &&
    inReplyTo === message.inReplyTo &&
    (contentType ?? "text") === message.contentType &&
    canonicalBody(body, message.contentType) === message.body;
  if (!isSameMessage) return undefined;
  return recipient === undefined ? "unknown" : addresseeOf(to, recipient);
}

function parseObject(request: Uint8Array): JsonObject | undefined {
  const value = parsed(request, "members");
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}

function canonicalBody(body: JsonValue, contentType: string): string | undefined {
  if (contentType === "text") return canonicalJson(body);
  const document = typeof body === "string" ? parsed(body, "root") : undefined;
  return document === undefined ? undefined : canonicalJson(document);
}

function parsed(text: Uint8Array | string, depthFrom: "root" | "members"): JsonValue | undefined {
  try {
    return parseStrict(text, { depthFrom });
  } catch (thrown) {
    if (thrown instanceof JsonError) return undefined;
    throw thrown;
  }
}

/** The same order of forms as the relay's: `@` or a short name is a handle, a hyphen a word name. */
function addresseeOf(to: string, recipient: RecipientForms): Addressee | "unknown" | undefined {
  const handle = normalHandle(to);
  if (handle !== undefined) {
    if (recipient.handle === undefined) return "unknown";
    return handle === recipient.handle ? "handle" : undefined;
  }
  if (to.includes("-")) return isWordNameOf(to, recipient.publicKey) ? "word-name" : undefined;
  return to === recipient.address ? "key" : undefined;
}
