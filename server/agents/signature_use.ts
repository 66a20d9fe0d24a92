/** Signed requests that change something count once: their signatures are kept while they could pass. */

/** A signature that authenticated a request. */
export interface SignatureUse {
  /** 64 bytes. */
  signature: Uint8Array;
  /** Until when a repetition must be recognised: the timestamp's last second, plus 60 s. */
  keepUntilMs: number;
}

/** ["sig", agentId, signature] -> {v, attempt, use, ...the answer to repeat} */
export const signatureKey = (agentId: number, signature: Uint8Array): Deno.KvKey => [
  "sig",
  agentId,
  signature,
];

/** How long after the last second in which its timestamp passes a signature is remembered. */
const KEPT_AFTER_MS = 60_000;

export function keepSignatureUntilMs(timestampSeconds: number, windowSeconds: number): number {
  // The distance is taken from the second, so the timestamp passes until the end of its last one.
  return (timestampSeconds + windowSeconds + 1) * 1000 + KEPT_AFTER_MS;
}
