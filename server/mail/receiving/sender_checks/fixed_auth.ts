/** Results of the sender checks that need no DNS. */
import type { MailAuth } from "../../records/message_record.ts";
import type { ParsedFacts } from "../../reading/parsed/parsed_mail.ts";

/** Nothing was checked: in local mode, which asks no DNS. */
export const UNCHECKED: MailAuth = {
  spf: "none",
  dkim: "none",
  dmarc: "none",
  fromDomain: null,
  verdict: "none",
};

/** A mail that an inbox of this relay sent to another: nobody else could (docs/mail.md). */
export function insideAuth(fromDomain: string): MailAuth {
  return { spf: "pass", dkim: "none", dmarc: "pass", fromDomain, verdict: "pass" };
}

/**
 * The result for the From that people are shown. Where the parser and the checker read another
 * domain in it, the checks say nothing about what is shown: DMARC's permerror, as for several.
 */
export function authOfShownFrom(
  auth: MailAuth,
  facts: Pick<ParsedFacts, "from" | "parseWarnings">,
): MailAuth {
  const shown = shownFromDomain(facts);
  if (auth === UNCHECKED) return { ...auth, fromDomain: shown };
  if (auth.fromDomain === null || shown === auth.fromDomain) return auth;
  return { ...auth, dmarc: "permerror", fromDomain: null, verdict: "fail" };
}

/** Domain of the one From that the parser found, lowercased; null where there is none, or several. */
function shownFromDomain(
  { from, parseWarnings }: Pick<ParsedFacts, "from" | "parseWarnings">,
): string | null {
  if (from === null || parseWarnings.includes("several_from")) return null;
  return from.address.slice(from.address.lastIndexOf("@") + 1).toLowerCase();
}
