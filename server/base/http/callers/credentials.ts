/** What the headers of a request say of who sent it, in their form alone (specification, section 5). */
import { createHash } from "node:crypto";
import type { Context } from "hono";
import { RelayError } from "../../errors.ts";
import type { HttpEnv } from "../routes/route.ts";

/** Standard base64 of exactly 64 bytes. */
const SIGNATURE = /^[A-Za-z0-9+/]{85}[AQgw]==$/;
const EMPTY_HASH = sha256Hex(new Uint8Array(0));

/** The three signature headers. */
export interface SignatureHeaders {
  address: string;
  timestamp: string;
  /** Standard base64 of 64 bytes. */
  signature: string;
}

/** Whether a request asks to be taken by its signature, whatever else it carries. */
export function hasSignature(headers: Headers): boolean {
  return headers.has("x-relay-signature") || headers.has("x-relay-pubkey");
}

/** The three headers in their form. Ones sent twice arrive joined and fail here. @throws RelayError `invalid_signature` */
export function readSignature(headers: Headers): SignatureHeaders {
  const address = headers.get("x-relay-pubkey");
  const timestamp = headers.get("x-relay-timestamp");
  const signature = headers.get("x-relay-signature");
  if (address === null || timestamp === null || signature === null) {
    throw new RelayError(
      "invalid_signature",
      "a signed request carries X-Relay-Pubkey, X-Relay-Timestamp and X-Relay-Signature, all three",
    );
  }
  if (!SIGNATURE.test(signature)) {
    throw new RelayError(
      "invalid_signature",
      "X-Relay-Signature must be standard base64 of the 64-byte Ed25519 signature: 88 characters, sent once",
    );
  }
  return { address, timestamp, signature };
}

/** What was to be signed of a request (specification, 5.1). */
export function stringToSign(c: Context<HttpEnv>, body: Uint8Array, timestamp: string): string {
  const bodyHash = body.length === 0 ? EMPTY_HASH : sha256Hex(body);
  return `relay:v1:${c.req.raw.method}:${c.get("path")}:${bodyHash}:${timestamp}`;
}

/** The token of Authorization: Bearer, scheme in any case, one space, the rest exact; null without one. */
export function bearerToken(headers: Headers): string | null {
  const match = /^bearer (.+)$/i.exec(headers.get("authorization") ?? "");
  return match === null ? null : match[1]!;
}

function sha256Hex(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
