/** Mails with DKIM signatures, made by another library than the relay checks them with. */
import { Buffer } from "node:buffer";
import { generateKeyPairSync } from "node:crypto";
import DKIM from "nodemailer/lib/dkim";

export interface DkimKey {
  privateKey: string;
  /** The text that is published under its selector. */
  record: string;
}

export function makeDkimKey(bits = 2048): DkimKey {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: bits });
  const der = publicKey.export({ type: "spki", format: "der" });
  return {
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    record: `v=DKIM1; k=rsa; p=${der.toString("base64")}`,
  };
}

/** The mail with a signature by `selector._domainkey.domain` before it. */
export async function dkimSigned(
  mail: string,
  domain: string,
  selector: string,
  { privateKey }: DkimKey,
): Promise<string> {
  const dkim = new DKIM({ domainName: domain, keySelector: selector, privateKey });
  const chunks: Buffer[] = [];
  for await (const chunk of dkim.sign(Buffer.from(mail, "latin1"))) {
    chunks.push(Buffer.from(chunk as Uint8Array));
  }
  return Buffer.concat(chunks).toString("latin1");
}
