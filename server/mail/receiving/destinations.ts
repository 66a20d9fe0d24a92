/**
 * Addresses at the relay's domain that are no inbox's own: those that bounces come back to, and the
 * operator's (docs/mail.md, "Handing mail in").
 */
import { readBounceAddress } from "../composing/bounce_address.ts";
import type { MailBase } from "../core/mail_base.ts";
import type { BounceReports } from "./reports/bounce_reports.ts";
import type { MessageRow } from "../records/message_record.ts";
import type { OperatorMail } from "./operator_mail.ts";
import type { ReceivedMail, RefusedCode } from "./received_mail.ts";

/** What becomes of mail to such an address. */
export type Destination =
  /** It is taken, and nothing is stored in an inbox. */
  | { code: null }
  | { code: RefusedCode; retryAfterMs?: number }
  /** It belongs to this message's inbox and thread. */
  | { about: MessageRow };

export interface DestinationServices extends Pick<MailBase, "domain" | "secret"> {
  reports: Pick<BounceReports, "receive">;
  operatorMail: Pick<OperatorMail, "passOn">;
}

/** What RFC 5321, section 4.5.1, and RFC 2142, section 2, want read by a person. */
const OPERATOR: ReadonlySet<string> = new Set(["postmaster", "abuse"]);

/** @param domain of the relay, lowercased */
export function isOperatorAddress(address: string, domain: string): boolean {
  return OPERATOR.has(nameAt(address, domain) ?? "");
}

/** The local part without what follows a plus, lowercased; null at another domain. */
function nameAt(address: string, domain: string): string | null {
  const at = address.lastIndexOf("@");
  if (at < 1 || address.slice(at + 1).toLowerCase() !== domain) return null;
  return address.slice(0, at).toLowerCase().split("+", 1)[0]!;
}

export class Destinations {
  constructor(private readonly services: DestinationServices) {}

  /**
   * @param address as the envelope gives it
   * @returns null for an address that an inbox may have
   * @throws RelayError `unavailable` where it has to be tried again
   */
  async find(address: string, mail: ReceivedMail): Promise<Destination | null> {
    const { domain, reports, operatorMail, secret } = this.services;
    if (mail.reachesOperator === true && isOperatorAddress(address, domain)) {
      return await operatorMail.passOn(mail, address);
    }
    if (nameAt(address, domain) !== "bounce") return null;
    const localPart = address.slice(0, address.lastIndexOf("@"));
    const named = readBounceAddress(localPart, await secret.key("mail-bounce"));
    if (named === null) return { code: "not_found" };
    const found = await reports.receive(named, mail);
    if (found.answer === "mail") return { about: found.row };
    return { code: found.answer === "applied" ? null : "not_found" };
  }
}
