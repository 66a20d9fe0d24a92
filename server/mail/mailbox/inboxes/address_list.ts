/** The lists that say whom an inbox writes to and hears from (docs/mail.md, "Inboxes"). Pure. */
import { invalidJson } from "../../../base/errors.ts";
import type { AddressListName } from "../../records/inbox_record.ts";

const MAX_ENTRIES = 100;
const MAX_ADDRESS = 254;
const ATOMS = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const FORM = "user@domain, domain or *.domain";

/**
 * A list as it is stored: lowercased, each entry once, in first order.
 * @throws RelayError `invalid_json` naming the field and the entry
 */
export function cleanAddressList(field: AddressListName, given: unknown): string[] {
  if (!Array.isArray(given)) {
    throw invalidJson(`${field} must be an array of at most ${MAX_ENTRIES} strings: ${FORM}`);
  }
  const entries = new Set<string>();
  for (const [index, item] of given.entries()) {
    const entry = typeof item === "string" ? item.toLowerCase() : "";
    if (!isEntry(entry)) throw invalidJson(`${field}[${index}] must be ${FORM}`);
    entries.add(entry);
    if (entries.size > MAX_ENTRIES) {
      throw invalidJson(`${field} must hold at most ${MAX_ENTRIES} different entries`);
    }
  }
  return [...entries];
}

function isEntry(entry: string): boolean {
  if (entry.length > MAX_ADDRESS) return false;
  const at = entry.lastIndexOf("@");
  if (at < 0) return isDomain(entry.startsWith("*.") ? entry.slice(2) : entry);
  return at <= 64 && ATOMS.test(entry.slice(0, at)) && isDomain(entry.slice(at + 1));
}

function isDomain(text: string): boolean {
  return text.length <= 253 && DOMAIN.test(text);
}

/**
 * Whether an address is on a list.
 * @param address a lowercased addr-spec
 */
export function isListed(entries: readonly string[], address: string): boolean {
  const domain = address.slice(address.lastIndexOf("@") + 1);
  return entries.some((entry) => {
    if (entry.includes("@")) return entry === address;
    if (entry.startsWith("*.")) return domain.endsWith(entry.slice(1));
    return entry === domain;
  });
}
