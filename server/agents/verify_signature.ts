/** The one place where the relay verifies bytes under an agent's key. */
import { Buffer } from "node:buffer";
import { type KeyObject, verify } from "node:crypto";

/**
 * Whether the key's holder signed the text.
 * @param signature 64 bytes of the strict form (hasStrictSignatureForm), on which verifiers agree
 */
export function verifySignature(key: KeyObject, signed: string, signature: Uint8Array): boolean {
  return verify(null, Buffer.from(signed), key, signature);
}
