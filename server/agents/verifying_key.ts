import { Buffer } from "node:buffer";
import { createPublicKey, type KeyObject } from "node:crypto";

/** A 32-byte Ed25519 public key as the native verifier takes it. */
export function importVerifyingKey(publicKey: Uint8Array): KeyObject {
  const x = Buffer.from(publicKey).toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}
