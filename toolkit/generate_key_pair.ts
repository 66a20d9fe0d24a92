import { utils } from "@noble/ed25519";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { publicKeyOf } from "./ed25519_signer.ts";
import { encodeAddress } from "./encode_address.ts";

/** An agent's keys. */
export interface KeyPair {
  /** The address, base58 of the public key. */
  readonly address: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The 32-byte seed of RFC 8032 5.1.5. Secret. */
  readonly privateKey: Uint8Array;
  /** The seed as 64 lowercase hex digits, as key files and key exports write it. Secret. */
  readonly privateKeyHex: string;
}

/**
 * Makes a new key pair from the platform's secure random source.
 *
 * @see RFC 8032 5.1.5
 *
 * @example
 * ```ts
 * import { decodeAddress, generateKeyPair } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * const { address, publicKey } = generateKeyPair();
 * assert.deepEqual(decodeAddress(address), publicKey);
 * ```
 */
export function generateKeyPair(): KeyPair {
  return keyPair(utils.randomSecretKey());
}

/**
 * Restores a key pair from its private key.
 *
 * @param privateKeyHex the 32-byte RFC 8032 seed as 64 lowercase hex digits
 * @throws {TypeError} for anything else; the message does not repeat it
 *
 * @example
 * ```ts
 * import { generateKeyPair, keyPairFromHex } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * const made = generateKeyPair();
 * assert.equal(keyPairFromHex(made.privateKeyHex).address, made.address);
 * ```
 */
export function keyPairFromHex(privateKeyHex: string): KeyPair {
  if (!/^[0-9a-f]{64}$/.test(privateKeyHex)) {
    throw new TypeError("Cannot read a private key: it has 64 lowercase hex digits");
  }
  return keyPair(hexToBytes(privateKeyHex));
}

function keyPair(privateKey: Uint8Array): KeyPair {
  const publicKey = publicKeyOf(privateKey);
  const address = encodeAddress(publicKey);
  return { address, publicKey, privateKey, privateKeyHex: bytesToHex(privateKey) };
}
