import { Point } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";

/**
 * Checks the cofactorless equation R = [S]B - [k]A by recomputing R and comparing its bytes.
 *
 * The library's own verify multiplies by the cofactor and so accepts signatures that native
 * verifiers refuse. Comparing bytes does not. It also refuses every R that is not encoded
 * canonically. The caller has checked the form of key and signature ({@linkcode hasStrictKeyForm},
 * {@linkcode hasStrictSignatureForm}).
 *
 * @param message any bytes
 * @param signature 64 bytes, S below the group order
 * @param publicKey 32 bytes; false when they are no point
 * @see RFC 8032 5.1.7
 */
export function pureVerify(
  message: Uint8Array,
  signature: Uint8Array,
  publicKey: Uint8Array,
): boolean {
  const r = signature.subarray(0, 32);
  let key: Point;
  try {
    key = Point.fromBytes(publicKey);
  } catch {
    return false;
  }
  const k = littleEndian(sha512(concatBytes(r, publicKey, message))) % Point.CURVE().n;
  const s = littleEndian(signature.subarray(32));
  // Everything here is public, so that the faster multiplication in variable time may be used.
  const expected = Point.BASE.multiply(s, false).subtract(key.multiply(k, false)).toBytes();
  return expected.every((byte, i) => byte === r[i]);
}

function littleEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) value = value << 8n | BigInt(bytes[i]!);
  return value;
}
