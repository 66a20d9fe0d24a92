/** Whom a message says it is from, where nobody has checked it. Pure. */
import type { ParsedFacts } from "../parsing/parsed_mail.ts";

/** Domain of the one From, lowercased; null where there is none, or several. */
export function fromDomainOf(
  { from, parseWarnings }: Pick<ParsedFacts, "from" | "parseWarnings">,
): string | null {
  if (from === null || parseWarnings.includes("several_from")) return null;
  return from.address.slice(from.address.lastIndexOf("@") + 1).toLowerCase();
}
