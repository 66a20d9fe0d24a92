import { base64 } from "@scure/base";

/** The domain and the selector that a key signs under: d= and s=. */
export interface DkimName {
  readonly domain: string;
  readonly selector: string;
}

/** Name of the TXT record of a DKIM key (RFC 6376, section 3.6.2.1). */
export function dkimRecordName({ domain, selector }: DkimName): string {
  return `${selector}._domainkey.${domain}`;
}

/**
 * Text of that record (RFC 6376, section 3.6.1).
 *
 * @param publicKey an RSA key as SubjectPublicKeyInfo, DER
 */
export function dkimRecordText(publicKey: Uint8Array): string {
  return `v=DKIM1; k=rsa; p=${base64.encode(publicKey)}`;
}
