/**
 * Signed requests that change something count once: a signature is kept for as long as it would be
 * accepted.
 */
import { Buffer } from "node:buffer";
import { unavailable } from "../../base/errors.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** A signature that authenticated a request. */
export interface SignatureUse {
  /** 64 bytes. */
  signature: Uint8Array;
  /** The signed unix time in seconds. */
  timestampSeconds: number;
}

/** Half of R and half of S: nobody finds two signatures of a key that share these 256 bits. */
export function signatureHalf(signature: Uint8Array): Uint8Array {
  return signature.slice(SIGNATURE_HALF_AT, SIGNATURE_HALF_AT + 32);
}

/** Where in a signature the half begins that is stored. */
export const SIGNATURE_HALF_AT = 16;

/**
 * The second comes first so that rows written together stand together: keys in random places would make every
 * send rewrite a page of the store of its own. A sweep deletes them (messages/send/signature_sweep.ts).
 */
export const sigKey = defineRow<[second: number, agentId: number, signatureHalf: Uint8Array]>(
  ["sig"],
  3,
  {
    holds: "what a request signed at this second was answered; makes a repetition harmless. " +
      "Sends have it on shared stores only",
    expires: "swept at timestamp + 361 s + 2 h",
  },
);

/** The key of a signature's row. */
export function signatureKey(
  agentId: number,
  { signature, timestampSeconds }: Pick<SignatureUse, "signature" | "timestampSeconds">,
): Deno.KvKey {
  return sigKey(timestampSeconds, agentId, signatureHalf(signature));
}

/** Name of an agent's signature in memory. */
export function signatureName(agentId: number, signature: Uint8Array): string {
  const { buffer, byteOffset, length } = signature; // a view: a copy would cost more than the text
  return `${agentId}/${Buffer.from(buffer, byteOffset, length).toString("base64")}`;
}

/** How long a signature is remembered after the last second that its timestamp passes in. */
const KEPT_AFTER_MS = 60_000;

/** Until when a repetition must be recognised: the timestamp's last second, plus 60 s. */
export function keepSignatureUntilMs(timestampSeconds: number, windowSeconds: number): number {
  // The distance is taken from the second, so the timestamp passes until the end of its last one.
  return (timestampSeconds + windowSeconds + 1) * 1000 + KEPT_AFTER_MS;
}

/**
 * Refuses, in the plan of a commit, a signature without a row where one may have been deleted: a clock that
 * was ahead made the relay forget it.
 * @throws RelayError `unavailable`
 */
export function refuseForgotten(
  { floor, now }: Pick<Store, "floor" | "now">,
  { timestampSeconds }: Pick<SignatureUse, "timestampSeconds">,
): void {
  if (timestampSeconds > floor.second) return;
  const untilMs = (floor.second + 1) * 1000;
  throw unavailable(
    `the relay no longer knows what it accepted of what was signed before ${
      timestamp(untilMs)
    }, so that this may be ` +
      "a repetition: look whether it has taken effect, and if not, sign anew with the present time after Retry-After",
    untilMs - now(),
  );
}
