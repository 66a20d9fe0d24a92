import { RelayError } from "../../errors.ts";

/**
 * Refuses an address at the relay's own domain as the verified one of an org: its agents could read
 * and approve there what is meant for a person.
 * @param domain of all inboxes, lowercased
 * @throws RelayError `invalid_google_token`
 */
export function requireForeignEmail(email: string, domain: string): void {
  if (email.slice(email.lastIndexOf("@") + 1) !== domain) return;
  throw new RelayError(
    "invalid_google_token",
    `the id_token's e-mail address is at ${domain}, the domain of this relay's own inboxes; sign in with an account that has an address elsewhere`,
  );
}
