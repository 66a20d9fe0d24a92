import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

/** What a request is signed over. */
export interface SignedParts {
  /** Uppercase, as sent. */
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** SHA-256 of the raw request bytes, 64 lowercase hex digits. */
  readonly bodyHash: string;
  /** Unix time in whole seconds. */
  readonly timestamp: number;
}

/**
 * Writes the string that a request's signature covers.
 *
 * @param request the method, the path without its query, the raw body bytes and the Unix time in
 * seconds. The SHA-256 of the body, as 64 lowercase hex digits, may stand for its bytes
 * @returns `relay:v1:METHOD:PATH:BODY_HASH:TIMESTAMP`
 * @throws {TypeError} for a method, path, hash or timestamp that the relay could not have received
 * @see service specification 5.1
 *
 * @example
 * ```ts
 * import { canonicalString } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * assert.equal(
 *   canonicalString({
 *     method: "GET",
 *     path: "/v1/inbox",
 *     body: new Uint8Array(0),
 *     timestamp: 1760000000,
 *   }),
 *   "relay:v1:GET:/v1/inbox:" +
 *     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855:1760000000",
 * );
 * ```
 */
export function canonicalString(
  request: Omit<SignedParts, "bodyHash"> & ({ body: Uint8Array } | { bodyHash: string }),
): string {
  const { method, path, timestamp } = request;
  const bodyHash = "body" in request ? bytesToHex(sha256(request.body)) : request.bodyHash;
  const text = `relay:v1:${method}:${path}:${bodyHash}:${timestamp}`;
  const parts = parseCanonicalString(text);
  if (parts === undefined || parts.method !== method || parts.path !== path) {
    throw new TypeError(
      "Cannot build a canonical string: it needs an uppercase method, a path that begins with / " +
        "and has no query, a SHA-256 of 64 lowercase hex digits, and whole Unix seconds",
    );
  }
  return text;
}

/** The last two fields are of fixed form, so that a path may hold colons. */
const CANONICAL_STRING = /^relay:v1:([A-Z]+):(\/[!-~]*):([0-9a-f]{64}):(0|[1-9][0-9]{0,14})$/;

/**
 * Takes a canonical string apart.
 *
 * @param text `relay:v1:METHOD:PATH:BODY_HASH:TIMESTAMP`
 * @returns its parts, or undefined when it is not of that form
 * @see service specification 5.1
 *
 * @example
 * ```ts
 * import { parseCanonicalString } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * const text = `relay:v1:POST:/v1/messages:${"ab".repeat(32)}:1760000000`;
 * assert.equal(parseCanonicalString(text)?.timestamp, 1760000000);
 * assert.equal(parseCanonicalString(text + "\n"), undefined);
 * ```
 */
export function parseCanonicalString(text: string): SignedParts | undefined {
  const match = CANONICAL_STRING.exec(text);
  if (match === null || match[2]!.includes("?")) return undefined;
  const [, method, path, bodyHash, timestamp] = match;
  return { method: method!, path: path!, bodyHash: bodyHash!, timestamp: Number(timestamp) };
}
