/** Signatures of the operator's gateway: Standard Webhooks, with what else is signed before the body. */
import { base64 } from "@scure/base";
import { createHmac, timingSafeEqual } from "node:crypto";
import { RelayError } from "../../../base/errors.ts";
import { hashInSlices } from "../../../base/slices/hash_in_slices.ts";
import { isTimely, type PossibleTimes } from "../../../base/storage/rows/timely.ts";

export function gatewayOff(): RelayError {
  return new RelayError(
    "not_found",
    "nothing can be handed in here: the operator has set no RELAY_MAIL_INBOUND_SECRET",
  );
}

/** What a request says about its signature, checked as well as possible without the body. */
export interface GatewayHeaders {
  /** webhook-id */
  id: string;
  timestamp: string;
  /** HMACs, one of which has to fit, 32 bytes each. */
  macs: readonly Uint8Array<ArrayBuffer>[];
}

const MAX_ID = 255;
const MAX_SIGNATURES = 16;
const MAC_BYTES = 32;
const encoder = new TextEncoder();

/**
 * @throws RelayError `invalid_signature` for headers that are missing or of another form,
 * `timestamp_out_of_range`
 */
export function readGatewayHeaders(
  headers: Headers,
  clock: PossibleTimes,
  windowSeconds: number,
): GatewayHeaders {
  const id = headers.get("webhook-id") ?? "";
  const timestamp = headers.get("webhook-timestamp") ?? "";
  const macs = readMacs(headers.get("webhook-signature") ?? "");
  if (!/^[\x21-\x7e]+$/.test(id) || id.length > MAX_ID || macs.length === 0) {
    throw wrongSignature();
  }
  if (!/^[0-9]{1,15}$/.test(timestamp)) throw wrongSignature();
  if (!isTimely(Number(timestamp), clock, windowSeconds)) {
    throw new RelayError(
      "timestamp_out_of_range",
      `webhook-timestamp must be within ${windowSeconds} seconds of the relay's time, which the Date header gives; sign the request again`,
    );
  }
  return { id, timestamp, macs };
}

function readMacs(header: string): Uint8Array<ArrayBuffer>[] {
  return header.split(" ", MAX_SIGNATURES).flatMap((part) => {
    if (!part.startsWith("v1,")) return [];
    try {
      const mac = base64.decode(part.slice("v1,".length)) as Uint8Array<ArrayBuffer>;
      return mac.length === MAC_BYTES ? [mac] : [];
    } catch {
      return [];
    }
  });
}

/**
 * Requires that one of the signatures is over `{id}.{timestamp}.{signed}` and the bytes. The digest
 * of a large body is made in slices.
 * @param secret at least 24 bytes
 * @param signed what stands between timestamp and body, its dot included
 * @throws RelayError `invalid_signature`
 */
export async function requireGatewaySignature(
  { id, timestamp, macs }: GatewayHeaders,
  secret: Uint8Array,
  signed: string,
  body: Uint8Array,
): Promise<void> {
  const expected = await macOf(secret, encoder.encode(`${id}.${timestamp}.${signed}`), body);
  if (macs.some((mac) => timingSafeEqual(mac, expected))) return;
  throw wrongSignature();
}

async function macOf(secret: Uint8Array, head: Uint8Array, body: Uint8Array): Promise<Uint8Array> {
  const hmac = createHmac("sha256", secret).update(head);
  return (await hashInSlices(hmac, body)).digest();
}

function wrongSignature(): RelayError {
  return new RelayError(
    "invalid_signature",
    "webhook-id, webhook-timestamp and webhook-signature must be there, and webhook-signature must be v1, and base64 of the HMAC-SHA256 of {webhook-id}.{webhook-timestamp}.{X-Relay-Envelope}.{body}, for events without the envelope, under RELAY_MAIL_INBOUND_SECRET",
  );
}
