/** E-mail addresses of people, as sign-in, claims and recipients take them (docs/mail.md). Pure. */
import { domainToASCII } from "node:url";
import { RelayError } from "../../base/errors.ts";

const MAX_ADDRESS = 254;
const MAX_LOCAL_PART = 64;
const MAX_DOMAIN = 253;
/** dot-atom of RFC 5322, section 3.2.3. */
const DOT_ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** At least two labels, and the last is no number: an IP address is no domain. */
const DOMAIN =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?=[a-z0-9-]*[a-z])[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** What names of other alphabets may hold of ASCII: nothing that a URL's host would decode or end at. */
// deno-lint-ignore no-control-regex
const NAME = /^(?:[A-Za-z0-9.-]|[^\x00-\x7f])+$/;
const FORM =
  "one address such as name@example.org: a local part of at most 64 ASCII characters without quotes, a domain name and no IP address, at most 254 characters in all";

/**
 * An address as it is stored and compared: lowercased, the domain in A-labels (RFC 5890).
 * @param field its name in the request
 * @throws RelayError `invalid_email`
 */
export function cleanEmail(field: string, given: unknown): string {
  if (typeof given !== "string") throw invalidEmail(`${field} is required: ${FORM}`);
  const at = given.lastIndexOf("@");
  const localPart = given.slice(0, Math.max(0, at));
  const domain = asciiDomain(given.slice(at + 1));
  const isAddress = at > 0 && domain !== null && localPart.length <= MAX_LOCAL_PART &&
    DOT_ATOM.test(localPart) && localPart.length + 1 + domain.length <= MAX_ADDRESS;
  if (!isAddress) throw invalidEmail(`${field} must be ${FORM}`);
  return `${localPart.toLowerCase()}@${domain}`;
}

/**
 * Refuses an address at the relay's own domain: a trial would confirm itself by its own inbox.
 * @param email as cleanEmail() gives it
 * @throws RelayError `invalid_email`
 */
export function refuseOwnDomain(field: string, email: string, ownDomain: string): void {
  if (email.slice(email.lastIndexOf("@") + 1) !== ownDomain) return;
  throw invalidEmail(
    `${field} must be a person's address elsewhere: those at ${ownDomain} are inboxes of this relay`,
  );
}

/** @returns null for what is no domain */
function asciiDomain(given: string): string | null {
  if (given.length > MAX_DOMAIN || !NAME.test(given)) return null;
  // deno-lint-ignore no-control-regex
  const ascii = /^[\x00-\x7f]*$/.test(given) ? given.toLowerCase() : domainToASCII(given);
  return ascii.length <= MAX_DOMAIN && DOMAIN.test(ascii) ? ascii : null;
}

function invalidEmail(message: string): RelayError {
  return new RelayError("invalid_email", message);
}
