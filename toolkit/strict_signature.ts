import { Point } from "@noble/ed25519";
import { PUBLIC_KEY_BYTES } from "./encode_address.ts";

/** The width of an Ed25519 signature: R, then S. */
const SIGNATURE_BYTES = 64;

/**
 * The y coordinates of the eight points of small order, little-endian, sign bit clear: 0, 1, p-1
 * and the two of order 8. The sign of x does not matter: both signs are of small order, or the
 * encoding with a sign is no point at all.
 */
const SMALL_ORDER_Y: readonly Uint8Array[] = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
].map((hex) => Uint8Array.from(hex.match(/../g)!, (byte) => Number.parseInt(byte, 16)));

/** The group order L = 2^252 + 27742317777372353535851937790883648493, little-endian. */
const GROUP_ORDER = Uint8Array.from(
  "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010".match(/../g)!,
  (byte) => Number.parseInt(byte, 16),
);

/**
 * Tells whether 32 bytes could be a public key by form alone: y < p and not of small order.
 *
 * Cheap (no point arithmetic). It does not tell whether they are a point; a verifier finds that
 * out, and {@linkcode isStrictPublicKey} does too.
 *
 * @param publicKey 32 bytes
 * @throws {TypeError} for another length
 *
 * @example
 * ```ts
 * import { hasStrictKeyForm } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * assert.equal(hasStrictKeyForm(new Uint8Array(32).fill(2)), true);
 * assert.equal(hasStrictKeyForm(new Uint8Array(32).fill(255)), false);
 * ```
 */
export function hasStrictKeyForm(publicKey: Uint8Array): boolean {
  if (publicKey.length !== PUBLIC_KEY_BYTES) {
    throw new TypeError(`A public key has 32 bytes, not ${publicKey.length}`);
  }
  return isStrictPoint(publicKey);
}

/**
 * Tells whether 32 bytes are a public key that may sign: canonically encoded, not of small order,
 * a point of the curve.
 *
 * A key of small order has signatures that anybody can make; a second encoding of a key would be a
 * second address for it.
 *
 * @param publicKey 32 bytes
 * @throws {TypeError} for another length
 * @see RFC 8032 5.1.3 (decoding), libsodium's rule
 *
 * @example
 * ```ts
 * import { generateKeyPair, isStrictPublicKey } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * assert.equal(isStrictPublicKey(generateKeyPair().publicKey), true);
 * assert.equal(isStrictPublicKey(new Uint8Array(32)), false);
 * ```
 */
export function isStrictPublicKey(publicKey: Uint8Array): boolean {
  if (!hasStrictKeyForm(publicKey)) return false;
  try {
    Point.fromBytes(publicKey);
    return true;
  } catch {
    return false;
  }
}

/**
 * Tells whether a signature may be checked at all: R canonically encoded and not of small order,
 * S below the group order.
 *
 * Native verifiers skip some of these and disagree with one another, so that this comes first. It
 * compares bytes only; that R is a point follows from the equation.
 *
 * @param signature 64 bytes, R then S
 * @throws {TypeError} for another length
 * @see RFC 8032 5.1.7 (S), libsodium's rule (R)
 *
 * @example
 * ```ts
 * import { hasStrictSignatureForm } from "agent-relay-toolkit";
 * import assert from "node:assert/strict";
 *
 * assert.equal(hasStrictSignatureForm(new Uint8Array(64).fill(2)), true);
 * assert.equal(hasStrictSignatureForm(new Uint8Array(64).fill(255)), false);
 * ```
 */
export function hasStrictSignatureForm(signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES) {
    throw new TypeError(`A signature has 64 bytes, not ${signature.length}`);
  }
  return isBelowGroupOrder(signature) && isStrictPoint(signature);
}

/** Whether the first 32 bytes are canonical (y < p = 2^255 - 19) and not of small order. */
function isStrictPoint(bytes: Uint8Array): boolean {
  return !isAtLeastP(bytes) && !SMALL_ORDER_Y.some((y) => hasY(bytes, y));
}

function isAtLeastP(bytes: Uint8Array): boolean {
  if ((bytes[31]! & 0x7f) !== 0x7f || bytes[0]! < 0xed) return false;
  for (let i = 1; i < 31; i++) if (bytes[i] !== 0xff) return false;
  return true;
}

function hasY(bytes: Uint8Array, y: Uint8Array): boolean {
  if ((bytes[31]! & 0x7f) !== y[31]) return false;
  for (let i = 0; i < 31; i++) if (bytes[i] !== y[i]) return false;
  return true;
}

/** Whether the 32 bytes from the 33rd on, little-endian, are below L. */
function isBelowGroupOrder(signature: Uint8Array): boolean {
  for (let i = 31; i >= 0; i--) {
    const difference = signature[32 + i]! - GROUP_ORDER[i]!;
    if (difference !== 0) return difference < 0;
  }
  return false;
}
