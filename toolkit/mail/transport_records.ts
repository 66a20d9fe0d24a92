import { differs, type Finding, FINE, missing } from "./check_records.ts";
import { parseIpRange } from "./ip_range.ts";

/** Where a domain's policy is fetched (RFC 8461, section 3.3). */
export function policyUrl(domain: string): string {
  return `https://mta-sts.${domain}/.well-known/mta-sts.txt`;
}

/** The lines of such a policy, to begin with: senders report what fails, and deliver all the same. */
export function policyLines(receives: readonly string[]): string[] {
  return [
    "version: STSv1",
    "mode: testing",
    ...receives.map((host) => `mx: ${host}`),
    "max_age: 86400",
  ];
}

/** Looks for the record that says that there is a policy (RFC 8461, section 3.1). */
export function checkMtaSts(texts: readonly string[]): Finding {
  return oneOf(
    texts,
    "STSv1",
    (text) =>
      /(?:^|;)\s*id\s*=\s*[A-Za-z0-9]{1,32}\s*(?:;|$)/.test(text)
        ? FINE
        : differs("the record has no id= of letters and digits, by which senders see a new policy"),
  );
}

/**
 * Looks whether a policy lets mail through to those who take it (RFC 8461, section 3.2).
 * @param receives names in small letters
 */
export function checkPolicy(policy: string, receives: readonly string[]): Finding {
  const fields = policy.split(/\r?\n/).map((line) => /^([a-z_]+): *(.*?) *$/.exec(line));
  const valuesOf = (name: string) =>
    fields.flatMap((field) => field?.[1] === name ? [field[2]!.toLowerCase()] : []);
  if (valuesOf("version")[0] !== "stsv1") return differs("the file does not begin with STSv1");
  const [mode = ""] = valuesOf("mode");
  if (!/^(?:enforce|testing|none)$/.test(mode)) {
    return differs("the file has no mode: enforce, testing or none");
  }
  if (!/^\d{1,8}$/.test(valuesOf("max_age")[0] ?? "")) return differs("the file has no max_age");
  const patterns = valuesOf("mx");
  const barred = receives.filter((host) => !patterns.some((pattern) => isNamedBy(pattern, host)));
  if (mode === "none" || barred.length === 0) return FINE;
  return differs(`its mx lines leave out ${barred.join(", ")}: no mail comes in by it`);
}

/** A star stands for one label (RFC 8461, section 4.1; RFC 6125, section 6.4.3). */
export function isNamedBy(pattern: string, host: string): boolean {
  if (!pattern.startsWith("*.")) return pattern === host;
  return host.slice(host.indexOf(".")) === pattern.slice(1);
}

/** Looks for an address that reports on TLS go to (RFC 8460, section 3). */
export function checkTlsReports(texts: readonly string[]): Finding {
  return oneOf(
    texts,
    "TLSRPTv1",
    (text) =>
      /(?:^|;)\s*rua\s*=\s*(?:mailto:|https:)/i.test(text)
        ? FINE
        : differs("the record has no rua= with mailto: or https:"),
  );
}

function oneOf(
  texts: readonly string[],
  version: string,
  check: (text: string) => Finding,
): Finding {
  const records = texts.filter((text) => new RegExp(`^v=${version}\\s*(?:;|$)`).test(text));
  if (records.length === 0) return missing(`no TXT record there begins with v=${version}`);
  if (records.length === 1) return check(records[0]!);
  return differs(`${records.length} records begin with v=${version}: senders then take none`);
}

/** The name under which DNS keeps the name of an address (RFC 1035, section 3.5; RFC 3596, section 2.5). */
export function reverseName(address: string): string | null {
  const range = parseIpRange(address);
  if (range === null) return null;
  if (range.version === 4) return `${address.split(".").reverse().join(".")}.in-addr.arpa`;
  const digits = [...range.first.toString(16).padStart(32, "0")].reverse();
  return `${digits.join(".")}.ip6.arpa`;
}

/**
 * Looks whether the name of an address leads back to it.
 * @param names that it has
 * @param addresses that these have
 */
export function checkReverse(
  address: string,
  names: readonly string[],
  addresses: readonly string[],
): Finding {
  if (names.length === 0) return missing("the address has no name: many servers refuse its mail");
  const first = (text: string) => parseIpRange(text)?.first;
  if (addresses.some((one) => first(one) === first(address))) return FINE;
  return differs(`${names.join(", ")} does not lead back to it`);
}
