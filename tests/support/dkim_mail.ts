/** Mails with DKIM signatures, made by another library than the relay checks them with. */
import { Buffer } from "node:buffer";
import { createHash, createSign, generateKeyPairSync } from "node:crypto";
import DKIM from "nodemailer/lib/dkim";
import { relaxedBody } from "../../server/mail/receiving/sender_checks/relaxed_body.ts";

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

/**
 * The mail with a signature that says what a test has it say, relaxed in both forms.
 * @param names `h=`, each taken from the lowest field of the name that is left (RFC 6376, 5.4.2)
 * @param tags further tags, such as "i=@mail.example.org; "
 */
export function signedNaming(
  mail: string,
  names: readonly string[],
  { domain, key, selector = "s1", tags = "" }: {
    domain: string;
    key: Pick<DkimKey, "privateKey">;
    selector?: string;
    tags?: string;
  },
): string {
  const end = mail.indexOf("\r\n\r\n");
  const relaxed = (field: string) => {
    const colon = field.indexOf(":");
    const value = field.slice(colon + 1).replaceAll("\r\n", "").replace(/[ \t]+/g, " ").trim();
    return `${field.slice(0, colon).trim().toLowerCase()}:${value}`;
  };
  const left = mail.slice(0, end).split(/\r\n(?![ \t])/);
  const signed = names.flatMap((name) => {
    const at = left.findLastIndex((field) => relaxed(field).startsWith(`${name.toLowerCase()}:`));
    return at < 0 ? [] : left.splice(at, 1);
  });
  const body = relaxedBody(new Uint8Array(Buffer.from(mail.slice(end + 4), "latin1")));
  const bodyHash = createHash("sha256").update(body).digest("base64");
  const field =
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain}; s=${selector}; ` +
    `${tags}h=${names.join(":")}; bh=${bodyHash}; b=`;
  const text = signed.map((one) => `${relaxed(one)}\r\n`).join("") + relaxed(field);
  const signature = createSign("RSA-SHA256").update(text, "latin1").sign(key.privateKey, "base64");
  return `${field}${signature}\r\n${mail}`;
}
