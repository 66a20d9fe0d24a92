import { differs, type Finding, FINE, missing } from "./finding.ts";

/**
 * Compares the hosts that take a domain's mail (RFC 5321, section 5.1) with those that shall.
 *
 * @param wanted names in small letters
 * @param published what the MX records name
 */
export function checkMx(wanted: readonly string[], published: readonly string[]): Finding {
  const names = published.map((name) => name.toLowerCase());
  if (names.length === 0) return missing("the domain has no MX record");
  if (names.includes("")) {
    return differs("the record says that the domain takes no mail (RFC 7505)");
  }
  const absent = wanted.filter((host) => !names.includes(host));
  if (absent.length > 0) return differs(`${absent.join(", ")} is not among the hosts`);
  const further = names.filter((host) => !wanted.includes(host));
  if (further.length === 0) return FINE;
  return differs(`${further.join(", ")} gets mail too, which the relay would not see`);
}
