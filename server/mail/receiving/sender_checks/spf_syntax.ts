/**
 * What is wrong with a record of SPF before anything of it is looked at (RFC 7208, 4.6 and 12): the
 * library judges terms one by one, and so lets a match stand in front of an error. Pure; linear.
 */

/** Letters c, r and t are for explanations alone (RFC 7208, 7.2). */
const MACRO = /%(?:[%_-]|\{[slodiphv][0-9]{0,3}r?[-.+,/_=]*\})/gi;
/** Stands in for a macro while a name is checked: it occurs in no record. */
const EXPANDED = "\0";
/** Mechanisms that say nothing without a value. */
const VALUED = ["include", "exists", "ip4", "ip6"];
/** Modifiers whose value is a name, at most one of each. */
const NAMED = ["redirect", "exp"];

/** @param record text of a record, which begins with `v=spf1` */
export function isSpfSyntax(record: string): boolean {
  const seen = new Set<string>();
  for (const term of record.split(" ").slice(1).filter((term) => term !== "")) {
    const [, qualifier, name, sign, value] =
      /^([-+?~]?)([A-Za-z][A-Za-z0-9_.-]*)([:=/]?)(.*)$/.exec(term) ?? [];
    if (name === undefined) return false;
    const word = name.toLowerCase();
    if (sign === "=") {
      if (qualifier !== "") return false;
      if (!NAMED.includes(word)) continue;
      if (seen.has(word) || !isDomainSpec(value!)) return false;
      seen.add(word);
    } else if (VALUED.includes(word)) {
      if (sign !== ":" || value === "") return false;
      if ((word === "include" || word === "exists") && !isDomainSpec(value!)) return false;
    } else if (value!.replaceAll(MACRO, EXPANDED).includes("%")) return false;
  }
  return true;
}

/** A name that ends in a label of letters, or in a macro. */
function isDomainSpec(text: string): boolean {
  const name = text.replaceAll(MACRO, EXPANDED);
  if (name.includes("%")) return false;
  if (name.endsWith(EXPANDED)) return true;
  const whole = name.endsWith(".") ? name.slice(0, -1) : name;
  const dot = whole.lastIndexOf(".");
  const top = whole.slice(dot + 1);
  return dot >= 0 && /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(top) && /[^0-9]/.test(top);
}
