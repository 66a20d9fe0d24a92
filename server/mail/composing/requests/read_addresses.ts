/** Addresses as requests name them (docs/mail.md, "A message"). Pure. */
import type { JsonValue } from "../../../../toolkit/json_value.ts";
import { invalidJson, RelayError } from "../../../base/errors.ts";
import { cleanEmail } from "../../records/email_address.ts";
import type { MailAddress } from "../../reading/parsed/parsed_mail.ts";
import type { MessageLimits, Recipients } from "../../records/message_content.ts";
import { readLine } from "./read_line.ts";

/** Code points of a display name. */
export const MAX_NAME = 100;
/** Entries of a field before those that name an address again are taken out: bounds the work. */
const MAX_ENTRIES = 1_000;
const OBJECT_FORM = '{"name": "Ann Example", "address": "ann@example.org"}';

/**
 * A field that names one address or several: a bare addr-spec, {name?, address}, or an array of these.
 * Addresses stay as given, except domains in other alphabets, which become A-labels (RFC 5890).
 * @param given undefined for none
 * @param most entries that the field may hold
 * @throws RelayError `invalid_email` for what is no address, `invalid_json` for another form; both
 * name field and index
 */
export function readAddresses(
  field: string,
  given: JsonValue | undefined,
  most = MAX_ENTRIES,
): MailAddress[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) return [readAddress(field, given)];
  if (given.length > most) throw invalidJson(`${field} must hold at most ${most} addresses`);
  return given.map((item, index) => readAddress(`${field}[${index}]`, item));
}

/**
 * Takes out every address that an earlier place has named, in the order of to, cc, bcc.
 * @throws RelayError `invalid_json` for more addresses than one message may have
 */
export function uniqueRecipients(
  { to, cc, bcc }: Recipients,
  { mailRecipientsPerMessage: most }: Pick<MessageLimits, "mailRecipientsPerMessage">,
): Recipients {
  const seen = new Set<string>();
  const unique = (addresses: readonly MailAddress[]) =>
    addresses.filter(({ address }) => {
      const before = seen.size;
      seen.add(cleanEmail("address", address));
      return seen.size > before;
    });
  const recipients = { to: unique(to), cc: unique(cc), bcc: unique(bcc) };
  if (seen.size <= most) return recipients;
  throw invalidJson(
    `to, cc and bcc must hold at most ${most} different addresses together, not ${seen.size}`,
  );
}

function readAddress(field: string, given: JsonValue): MailAddress {
  if (typeof given === "string") {
    if (given.includes("<")) {
      throw new RelayError(
        "invalid_email",
        `${field} must be a bare address such as ann@example.org; with a display name write ${OBJECT_FORM}`,
      );
    }
    return { name: null, address: readAddrSpec(field, given) };
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw invalidJson(`${field} must be an address such as "ann@example.org", or ${OBJECT_FORM}`);
  }
  const { name = null, address } = given;
  if (typeof address !== "string") {
    throw invalidJson(`${field}.address must be a string, as in ${OBJECT_FORM}`);
  }
  return {
    name: name === null ? null : readLine(`${field}.name`, name, MAX_NAME) || null,
    address: readAddrSpec(`${field}.address`, address),
  };
}

function readAddrSpec(field: string, given: string): string {
  const clean = cleanEmail(field, given);
  const at = given.lastIndexOf("@");
  const hasAsciiDomain = given.length - at === clean.length - clean.lastIndexOf("@") &&
    given.slice(at).toLowerCase() === clean.slice(clean.lastIndexOf("@"));
  return hasAsciiDomain ? given : given.slice(0, at) + clean.slice(clean.lastIndexOf("@"));
}
