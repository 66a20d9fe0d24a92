import { base58 } from "@scure/base";
import { AddressError } from "./address_error.ts";

/** A base58 text of 32 characters could be a handle as well, so no address is that short. */
export const MIN_ADDRESS_LENGTH = 33;

/** The longest base58 text of 32 bytes: ceil(256 / log2 58). */
export const MAX_ADDRESS_LENGTH = 44;

/** The width of an Ed25519 public key. */
export const PUBLIC_KEY_BYTES = 32;

/**
 * Writes a public key as an address, its base58 text.
 *
 * @param publicKey 32 bytes
 * @returns 33 to 44 characters
 * @throws {TypeError} when the key has another length than 32 bytes
 * @throws {AddressError} `wrong_length` for the few keys whose base58 text has 32 characters, since
 * it could be a handle. No random key pair has such a key
 * @see service specification 2.1
 *
 * @example
 * ```ts
 * import { decodeAddress, encodeAddress } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * const publicKey = new Uint8Array(32).fill(7);
 * assert.deepEqual(decodeAddress(encodeAddress(publicKey)), publicKey);
 * ```
 */
export function encodeAddress(publicKey: Uint8Array): string {
  if (publicKey.length !== PUBLIC_KEY_BYTES) {
    throw new TypeError(`Cannot encode an address: the key has ${publicKey.length} bytes, not 32`);
  }
  const address = base58.encode(publicKey);
  if (address.length >= MIN_ADDRESS_LENGTH) return address;
  throw new AddressError("wrong_length", "a key whose base58 text has 32 characters is no address");
}
