import { utf8ToBytes } from "@noble/hashes/utils.js";
import { base64 } from "@scure/base";
import { canonicalString } from "./canonical_string.ts";
import { publicKeyOf, signBytes } from "./ed25519_signer.ts";
import { encodeAddress } from "./encode_address.ts";

/** The width of an RFC 8032 seed. */
const PRIVATE_KEY_BYTES = 32;

/** A request to sign. */
export interface UnsignedRequest {
  /** Uppercase. */
  readonly method: string;
  /** The path exactly as it will be sent, without the query. */
  readonly path: string;
  /** The exact bytes that will be sent; empty for a request without a body. */
  readonly body: Uint8Array;
  /** Unix time in whole seconds. */
  readonly timestamp: number;
}

/** A signature and what it covers. */
export interface RequestSignature {
  /** The signed string. */
  readonly canonicalString: string;
  /** Standard base64 of the 64 bytes. */
  readonly signature: string;
  /** The three headers to send. */
  readonly headers: {
    readonly "X-Relay-Pubkey": string;
    readonly "X-Relay-Timestamp": string;
    readonly "X-Relay-Signature": string;
  };
}

/**
 * Signs a request to the relay. Nothing is read from a clock: the same request at the same
 * timestamp has the same signature, which the relay counts as one.
 *
 * @param request what will be sent
 * @param privateKey the 32-byte RFC 8032 seed
 * @returns the signature, the string it covers and the headers that carry it
 * @throws {TypeError} for a request that the relay could not have received, or a key of another
 * length
 * @see service specification 5.1
 *
 * @example
 * ```ts
 * import { canonicalJson, generateKeyPair, signRequest } from "agent-relay-toolkit";
 * import { ok } from "node:assert/strict";
 *
 * const { privateKey } = generateKeyPair();
 * const body = new TextEncoder().encode(canonicalJson({ to: "some_agent", body: "hello" }));
 * const { canonicalString, headers } = signRequest(
 *   { method: "POST", path: "/v1/messages", body, timestamp: 1760000000 },
 *   privateKey,
 * );
 * ok(canonicalString.startsWith("relay:v1:POST:/v1/messages:"));
 * ok(headers["X-Relay-Signature"].endsWith("=="));
 * ```
 */
export function signRequest(request: UnsignedRequest, privateKey: Uint8Array): RequestSignature {
  if (privateKey.length !== PRIVATE_KEY_BYTES) {
    throw new TypeError(
      `Cannot sign a request: the private key must have ${PRIVATE_KEY_BYTES} bytes`,
    );
  }
  const signed = canonicalString(request);
  const signature = base64.encode(signBytes(utf8ToBytes(signed), privateKey));
  return {
    canonicalString: signed,
    signature,
    headers: {
      "X-Relay-Pubkey": encodeAddress(publicKeyOf(privateKey)),
      "X-Relay-Timestamp": String(request.timestamp),
      "X-Relay-Signature": signature,
    },
  };
}
