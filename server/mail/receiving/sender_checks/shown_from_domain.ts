/** Whom a message is from, as people are shown it. Pure. */
import type { ParsedFacts } from "../../reading/parsed/parsed_mail.ts";

export type ShownFrom = Pick<ParsedFacts, "from" | "parseWarnings">;

/** Domain of the one From that the parser found, lowercased; null where there is none, or several. */
export function shownFromDomain({ from, parseWarnings }: ShownFrom): string | null {
  if (from === null || parseWarnings.includes("several_from")) return null;
  return from.address.slice(from.address.lastIndexOf("@") + 1).toLowerCase();
}
