import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { dkimRecordText } from "../mail/dkim_record.ts";

/** What a DKIM key has at least: receivers need not take shorter ones (RFC 8301, section 3.2). */
export const MIN_DKIM_KEY_BITS = 2048;

/**
 * A DKIM key as operators write it down, as PKCS#8 PEM.
 *
 * @param text PEM, line ends as `\n` allowed, or base64 of PKCS#8 DER
 * @returns null for what is no RSA key of at least 2,048 bits; why is not told, for it may quote the key
 */
export function readDkimKey(text: string): string | null {
  try {
    const pem = text.replaceAll("\\n", "\n");
    const key = pem.includes("-----BEGIN")
      ? createPrivateKey({ key: pem, format: "pem" })
      : createPrivateKey({ key: Buffer.from(text, "base64"), format: "der", type: "pkcs8" });
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    if (key.asymmetricKeyType !== "rsa" || bits < MIN_DKIM_KEY_BITS) return null;
    return key.export({ type: "pkcs8", format: "pem" }).toString();
  } catch {
    return null;
  }
}

/** The TXT record that belongs to a private key, PKCS#8 PEM. */
export function dkimRecord(privateKeyPem: string): string {
  return dkimRecordText(createPublicKey(privateKeyPem).export({ type: "spki", format: "der" }));
}
