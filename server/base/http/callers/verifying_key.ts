import { Buffer } from "node:buffer";
import { createPublicKey, type KeyObject } from "node:crypto";

/**
 * An Ed25519 public key as the native verifier takes it.
 * @param publicKey 32 bytes, or their base64url
 */
export function importVerifyingKey(publicKey: Uint8Array | string): KeyObject {
  const x = typeof publicKey === "string"
    ? publicKey
    : Buffer.from(publicKey).toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}
