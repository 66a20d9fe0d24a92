import { differs, type Finding, FINE, missing } from "./finding.ts";
import { includesRange, parseIpRange } from "./ip_range.ts";

/**
 * Looks whether an SPF record lets those send who shall, and nobody else (RFC 7208).
 *
 * @param wanted mechanisms, such as `include:spf.example.net` or `ip4:192.0.2.1`
 * @param texts the TXT records of the domain
 */
export function checkSpf(wanted: readonly string[], texts: readonly string[]): Finding {
  const records = spfRecords(texts);
  if (records.length === 0) return missing("no TXT record of the domain begins with v=spf1");
  if (records.length > 1) {
    return differs(`${records.length} records begin with v=spf1: receivers then take none`);
  }
  const terms = records[0]!.toLowerCase().split(" ").slice(1).filter((term) => term !== "");
  const end = terms.findIndex((term) => /^[-~?+]?all$/.test(term));
  const before = end < 0 ? terms : terms.slice(0, end);
  const absent = wanted.filter((one) => !before.some((term) => passes(term, one)));
  if (absent.length > 0) {
    const others = before.some((term) => term.startsWith("redirect="))
      ? ", and what redirect= leads to is not looked at"
      : "";
    return differs(`${absent.join(" ")} is not in the record${others}`);
  }
  switch (end < 0 ? "" : terms[end]![0]) {
    case "-":
    case "~":
      return FINE;
    case "":
    case "?":
      return differs("the record says nothing of other senders: end it with ~all");
    default:
      return differs("the record lets everybody send in the domain's name: end it with ~all");
  }
}

/** Those of a domain's TXT records that are SPF's (RFC 7208, section 4.5). */
export function spfRecords(texts: readonly string[]): string[] {
  return texts.filter((text) => /^v=spf1(?: |$)/i.test(text));
}

/** Whether a term of a record lets those send that a mechanism names. */
function passes(term: string, wanted: string): boolean {
  const own = term.replace(/^\+/, "");
  if (own === wanted) return true;
  const [outer, inner] = [own, wanted].map((one) => {
    const match = /^ip[46]:(.*)$/.exec(one);
    return match === null ? null : parseIpRange(match[1]!);
  });
  return outer != null && inner != null && includesRange(outer, inner);
}
