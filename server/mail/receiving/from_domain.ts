/** Whom a message says it is from, where nobody has checked it. Pure. */
import type { ParsedFacts } from "../parsing/parsed_mail.ts";
import type { MailAuth } from "../records/message_record.ts";

type Facts = Pick<ParsedFacts, "from" | "parseWarnings">;

/** What is known of a sender, with the domain that its message names where nothing was checked. */
export function withFromDomain(auth: MailAuth, facts: Facts): MailAuth {
  if (auth.fromDomain !== null || auth.dmarc !== "none") return auth;
  return { ...auth, fromDomain: fromDomainOf(facts) };
}

/** Domain of the one From, lowercased; null where there is none, or several. */
export function fromDomainOf({ from, parseWarnings }: Facts): string | null {
  if (from === null || parseWarnings.includes("several_from")) return null;
  return from.address.slice(from.address.lastIndexOf("@") + 1).toLowerCase();
}
