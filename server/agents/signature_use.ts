/**
 * Signed requests that change something count once: a signature is kept for as long as it would be
 * accepted.
 */
import { Buffer } from "node:buffer";

/** A signature that authenticated a request. */
export interface SignatureUse {
  /** 64 bytes. */
  signature: Uint8Array;
  /** The signed unix time in seconds. */
  timestampSeconds: number;
  /** Until when a repetition must be recognised: the timestamp's last second, plus 60 s. */
  keepUntilMs: number;
}

/** Half of R and half of S: nobody finds two signatures of a key that share these 256 bits. */
export function signatureHalf(signature: Uint8Array): Uint8Array {
  return signature.slice(SIGNATURE_HALF_AT, SIGNATURE_HALF_AT + 32);
}

/** Where in a signature the half begins that is stored. */
export const SIGNATURE_HALF_AT = 16;

/**
 * ["sig", signed second, agentId, 32 bytes of the signature] -> {v, attempt, use, ...the answer to
 * repeat}. The second comes first so that rows written together stand together: keys in random
 * places would make every send rewrite a page of the store of its own.
 */
export function signatureKey(
  agentId: number,
  { signature, timestampSeconds }: Pick<SignatureUse, "signature" | "timestampSeconds">,
): Deno.KvKey {
  return ["sig", timestampSeconds, agentId, signatureHalf(signature)];
}

/** Name of an agent's signature in memory. */
export function signatureName(agentId: number, signature: Uint8Array): string {
  const { buffer, byteOffset, length } = signature; // a view: a copy would cost more than the text
  return `${agentId}/${Buffer.from(buffer, byteOffset, length).toString("base64")}`;
}

/** How long after the last second in which its timestamp passes a signature is remembered. */
const KEPT_AFTER_MS = 60_000;

export function keepSignatureUntilMs(timestampSeconds: number, windowSeconds: number): number {
  // The distance is taken from the second, so the timestamp passes until the end of its last one.
  return (timestampSeconds + windowSeconds + 1) * 1000 + KEPT_AFTER_MS;
}
