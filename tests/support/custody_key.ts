import { Buffer } from "node:buffer";

/** A custody key, 32 random bytes. */
export function newKey(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32));
}

/** As RELAY_CUSTODY_KEY takes it. */
export function encodeBase64Key(key: Uint8Array): string {
  return Buffer.from(key).toString("base64");
}
