import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { canonicalJson } from "./canonical_json.ts";
import type { JsonValue } from "./json_value.ts";

/**
 * Hashes a message body: the SHA-256 of the UTF-8 bytes of its canonical JSON.
 *
 * A string is hashed with its quotes, as JSON writes it.
 *
 * @param body the body, for content type json the parsed document
 * @returns 64 lowercase hex digits
 * @throws {JsonError} as {@linkcode canonicalJson}
 * @see service specification 2.5 (content_hash), RFC 8785
 *
 * @example
 * ```ts
 * import { contentHash } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * assert.equal(
 *   contentHash("hello"),
 *   "5aa762ae383fbb727af3c7a36d4940a5b8c40a989452d2304fc958ff3f354e7a",
 * );
 * ```
 */
export function contentHash(body: JsonValue): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(body))));
}
