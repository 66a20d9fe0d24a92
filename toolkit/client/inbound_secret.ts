import { base64 } from "@scure/base";

/** What a secret of the inbound gateway has at least, in bytes. */
export const MIN_INBOUND_SECRET_BYTES = 24;

/**
 * The bytes of a secret as operators write it down, which sign what is injected.
 *
 * @param text `whsec_` and base64, or base64
 * @returns null when it is none of these, or shorter than 24 bytes
 */
export function decodeInboundSecret(text: string): Uint8Array<ArrayBuffer> | null {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = base64.decode(text.trim().replace(/^whsec_/, "")) as Uint8Array<ArrayBuffer>;
  } catch {
    return null;
  }
  return bytes.length >= MIN_INBOUND_SECRET_BYTES ? bytes : null;
}

/**
 * The bytes of a webhook's secret, which sign its deliveries.
 *
 * @param text `rmwh_` or `whsec_` and base64, or base64
 * @returns null when it is none of these, or shorter than 24 bytes
 */
export function decodeWebhookSecret(text: string): Uint8Array<ArrayBuffer> | null {
  return decodeInboundSecret(text.trim().replace(/^rmwh_/, "whsec_"));
}
