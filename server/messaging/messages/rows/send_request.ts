/**
 * The request of a send, parsed by hand: a schema library would cost too much on every send. Pure.
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../../toolkit/canonical_json.ts";
import type { JsonObject, JsonValue } from "../../../../toolkit/json_value.ts";
import { parseStrict } from "../../../../toolkit/parse_strict.ts";
import { invalidJson, RelayError } from "../../../base/errors.ts";
import { readObject, strict } from "../../../base/http/fields/json_body.ts";

const CONTENT_TYPES = ["text", "json"] as const;
export type ContentType = typeof CONTENT_TYPES[number];

export interface SendRequest {
  /** As given: any address form. */
  to: string;
  /** Canonical JSON (RFC 8785) of the stored body. */
  body: string;
  bodySizeBytes: number;
  /** Lowercase hex SHA-256 of the canonical body. */
  contentHash: string;
  inReplyTo: number | null;
  contentType: ContentType;
  /** How the optional fields stood in the request: what is needed to rebuild its bytes. */
  written: { inReplyTo: "absent" | "null" | "value"; contentType: "absent" | "null" | "value" };
}

/**
 * Parses and checks the body of POST /v1/messages.
 * @param bytes raw request body
 * @param limitBytes how large the canonical body may be, in UTF-8 bytes
 * @throws RelayError `invalid_json` naming the field, `payload_too_large`
 */
export function readSendRequest(bytes: Uint8Array, limitBytes: number): SendRequest {
  return checkSend(readObject(bytes), limitBytes);
}

/** Checks the fields of a send, however it arrived. @throws as readSendRequest */
export function checkSend(request: JsonObject, limitBytes: number): SendRequest {
  // Check 5
  const { to } = request;
  if (to === undefined) {
    throw invalidJson("to is required: a handle, a word name or a base58 public key");
  }
  if (typeof to !== "string") throw invalidJson("to must be a string");
  if (!Object.hasOwn(request, "body")) throw invalidJson("body is required; null is allowed");
  const contentType = readContentType(request["content_type"]);
  const inReplyTo = readInReplyTo(request["in_reply_to"]);
  const value = contentType === "json" ? readDocument(request["body"]!) : request["body"]!;
  const bodySizeBytes = canonicalSizeBytes(value);
  if (bodySizeBytes > limitBytes) { // Check 6
    throw new RelayError(
      "payload_too_large",
      `body is ${bodySizeBytes} bytes in canonical JSON; at most ${limitBytes} are allowed`,
    );
  }
  const body = canonicalJson(value);
  return {
    to,
    body,
    bodySizeBytes,
    contentHash: createHash("sha256").update(body).digest("hex"),
    inReplyTo,
    contentType,
    written: {
      inReplyTo: presence(request["in_reply_to"]),
      contentType: presence(request["content_type"]),
    },
  };
}

/**
 * How large a parsed value is in canonical JSON, in UTF-8 bytes. Canonical JSON is what
 * JSON.stringify writes with its members in another order: as long, and written much faster.
 */
function canonicalSizeBytes(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function presence(value: JsonValue | undefined): "absent" | "null" | "value" {
  return value === undefined ? "absent" : value === null ? "null" : "value";
}

function readContentType(given: JsonValue | undefined): ContentType {
  if (given === undefined || given === null || given === "text") return "text";
  if (given === "json") return "json";
  throw invalidJson(`content_type must be one of: ${CONTENT_TYPES.join(", ")}`);
}

function readInReplyTo(given: JsonValue | undefined): number | null {
  if (given === undefined || given === null) return null;
  if (typeof given === "number" && Number.isSafeInteger(given) && given >= 1) return given;
  throw invalidJson("in_reply_to must be null or a message id: an integer from 1 to 2^53-1");
}

/** For content_type json, body is a string that holds a JSON document. */
function readDocument(body: JsonValue): JsonValue {
  if (typeof body !== "string") {
    throw invalidJson(
      'body must be a string holding a JSON document when content_type is "json"; for any other body leave content_type out',
    );
  }
  return strict(() => parseStrict(body, { where: "inside body" }));
}
