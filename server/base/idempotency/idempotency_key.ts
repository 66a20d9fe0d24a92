/** The form of idempotency keys, and what of them and of requests the store holds. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../toolkit/canonical_json.ts";
import type { JsonValue } from "../../../toolkit/json_value.ts";
import { invalidJson } from "../errors.ts";

const KEY = /^[\x20-\x7e]{1,255}$/;

/** The header Idempotency-Key as it must be, null without one. @throws RelayError `invalid_json` */
export function readIdempotencyKey(headers: Headers): string | null {
  const given = headers.get("idempotency-key");
  return given === null ? null : requireIdempotencyKey(given, "the header Idempotency-Key");
}

/**
 * The key as it must be.
 * @param where how messages name it: the header or the tool's argument
 * @throws RelayError `invalid_json`
 */
export function requireIdempotencyKey(given: string, where: string): string {
  if (KEY.test(given)) return given;
  throw invalidJson(`${where} must be 1 to 255 printable ASCII characters`);
}

/**
 * A key, with what else its scope is made of, as one part of a record's key: SHA-256, base64url.
 * @param parts none holds NUL, so that no two lists give one hash
 */
export function hashScope(...parts: string[]): string {
  if (parts.some((part) => part.includes("\0"))) throw new TypeError("a part of a scope holds NUL");
  return sha256(parts.join("\0"));
}

/** What makes two requests under one key the same: SHA-256 of their RFC 8785 JSON, base64url. */
export function fingerprintOf(asked: JsonValue): string {
  return sha256(canonicalJson(asked));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
