import { Buffer } from "node:buffer";
import { domainToASCII } from "node:url";
import addressparser from "nodemailer/lib/addressparser";

const MAX_FROM_CHARACTERS = 8_192;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/**
 * Domain of the one address of the one From, as A-labels, lowercased. Pure; part of the worker.
 *
 * @param fields values of all From fields, unfolded; a byte is a character
 * @returns null where there is no From, several, several addresses, or no domain in it
 */
export function fromDomainOf(fields: readonly string[]): string | null {
  const [field] = fields;
  if (fields.length !== 1 || field!.length > MAX_FROM_CHARACTERS) return null;
  const text = Buffer.from(field!, "latin1").toString("utf8");
  const found = addressparser(text, { flatten: true });
  return found.length === 1 ? domainOf(found[0]!.address) : null;
}

/** Domain of an address, as A-labels, lowercased; null where it has none that DNS could know. */
export function domainOf(address: string): string | null {
  const at = address.lastIndexOf("@");
  if (at <= 0) return null;
  const domain = domainToASCII(address.slice(at + 1)).toLowerCase();
  return DOMAIN.test(domain) ? domain : null;
}
