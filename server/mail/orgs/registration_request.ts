/** What a key pair sends to register for mail, and the proof that its holder did (specification, 4.7). */
import { Buffer } from "node:buffer";
import { verify } from "node:crypto";
import { AddressError } from "../../../toolkit/address_error.ts";
import { decodeAddress } from "../../../toolkit/decode_address.ts";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import { hasStrictSignatureForm, isStrictPublicKey } from "../../../toolkit/strict_signature.ts";
import { importVerifyingKey } from "../../base/http/callers/verifying_key.ts";
import { invalidJson, RelayError } from "../../base/errors.ts";
import { cleanLine } from "../../base/http/fields/text_fields.ts";
import { isTimely, type PossibleTimes, serverSeconds } from "../../base/storage/rows/timely.ts";

const MAX_LABEL = 100;
/** Standard base64 of exactly 64 bytes. */
const SIGNATURE = /^[A-Za-z0-9+/]{85}[AQgw]==$/;

export interface RegistrationRequest {
  /** base58 of 32 bytes. */
  publicKey: string;
  timestampSeconds: number;
  /** Name of the first key; null where none is given. */
  label: string | null;
}

/**
 * The request, once its signature has been verified.
 * @param windowSeconds greatest distance of the timestamp from the server's
 * @throws RelayError `invalid_json`, `invalid_pubkey`, `timestamp_out_of_range`, `invalid_signature`
 */
export function readRegistration(
  request: JsonObject,
  clock: PossibleTimes,
  windowSeconds: number,
): RegistrationRequest {
  const { public_key, timestamp, signature } = request;
  if (typeof public_key !== "string") {
    throw invalidJson("public_key is required: base58 of the 32-byte Ed25519 public key");
  }
  if (typeof timestamp !== "number" || !Number.isSafeInteger(timestamp)) {
    throw invalidJson("timestamp is required: unix time in whole seconds, as an integer");
  }
  if (typeof signature !== "string") {
    throw invalidJson(
      "signature is required: standard base64 of the Ed25519 signature over relay-mail:register:{public_key}:{timestamp}",
    );
  }
  const given = request["label"] ?? null;
  const label = given === null ? null : cleanLine("label", given, MAX_LABEL) || null;
  const publicKey = requirePublicKey(public_key);
  if (timestamp < 0 || !isTimely(timestamp, clock, windowSeconds)) {
    const unit = timestamp > 1e12 ? "; this one looks like milliseconds" : "";
    throw new RelayError(
      "timestamp_out_of_range",
      `timestamp must be unix time in whole seconds, at most ${windowSeconds} s from the server's ${
        serverSeconds(clock)
      }${unit}`,
    );
  }
  const signed = `relay-mail:register:${public_key}:${timestamp}`;
  if (!isSignedBy(publicKey, signed, signature)) {
    throw new RelayError(
      "invalid_signature",
      `signature must be standard base64 of the 64-byte Ed25519 signature; this one does not verify over ${signed}`,
    );
  }
  return { publicKey: public_key, timestampSeconds: timestamp, label };
}

/** The toolkit's rule (docs/verification.md): strict form, then the native verifier. */
function isSignedBy(publicKey: Uint8Array, signed: string, signature: string): boolean {
  if (!SIGNATURE.test(signature)) return false;
  const bytes = Buffer.from(signature, "base64");
  return hasStrictSignatureForm(bytes) &&
    verify(null, Buffer.from(signed), importVerifyingKey(publicKey), bytes);
}

/** @throws RelayError `invalid_pubkey` */
function requirePublicKey(address: string): Uint8Array {
  try {
    const publicKey = decodeAddress(address);
    if (isStrictPublicKey(publicKey)) return publicKey;
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
  }
  throw new RelayError(
    "invalid_pubkey",
    "public_key must be the base58 (33 to 44 characters) of a 32-byte Ed25519 public key: a canonical point that is not of small order",
  );
}
