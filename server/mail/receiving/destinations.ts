/**
 * Addresses at the relay's domain that are no inbox's own: those that bounces come back to, and the
 * operator's (docs/mail.md, "Handing mail in").
 */
import { type BouncedMail, readBounceAddress } from "../composing/bounce_address.ts";
import type { MailBase } from "../core/mail_base.ts";
import type { BounceReports } from "./reports/bounce_reports.ts";
import type { MessageRow } from "../records/message_record.ts";
import type { OperatorMail, Passed } from "./operator_mail.ts";
import type { AnnouncedMail, ReceivedMail, RefusedCode } from "./received_mail.ts";

/** What becomes of mail to such an address. */
export type Destination =
  /** It is taken, and nothing is stored in an inbox. */
  | { code: null }
  | { code: RefusedCode; retryAfterMs?: number }
  /** It belongs to this message's inbox and thread. */
  | { about: MessageRow };

export interface DestinationServices extends Pick<MailBase, "domain" | "secret"> {
  reports: Pick<BounceReports, "receive" | "find">;
  operatorMail: Pick<OperatorMail, "passOn" | "preview">;
}

/** What RFC 5321, section 4.5.1, and RFC 2142, section 2, want read by a person. */
const OPERATOR: ReadonlySet<string> = new Set(["postmaster", "abuse"]);

export class Destinations {
  constructor(private readonly services: DestinationServices) {}

  /**
   * @param address as the envelope gives it
   * @returns null for an address that an inbox may have
   * @throws RelayError `unavailable` where it has to be tried again
   */
  async find(address: string, mail: ReceivedMail): Promise<Destination | null> {
    const { reports, operatorMail } = this.services;
    const named = await this.#nameOf(address);
    if (named === "operator") {
      return mail.reachesOperator === true ? await operatorMail.passOn(mail, address) : null;
    }
    if (named === null) return null;
    if (named === "forged") return { code: "not_found" };
    const found = await reports.receive(named, mail);
    if (found.answer === "mail") return { about: found.row };
    return { code: found.answer === "applied" ? null : "not_found" };
  }

  /**
   * What is known of such an address before the message comes, where the relay is the domain's mail server.
   * @returns null for an address that an inbox may have
   * @throws RelayError `unavailable` where it has to be tried again
   */
  async preview(
    address: string,
    mail: Pick<AnnouncedMail, "from">,
  ): Promise<Passed & { isOperator: boolean } | null> {
    const { reports, operatorMail } = this.services;
    const named = await this.#nameOf(address);
    if (named === null) return null;
    if (named === "operator") {
      return { ...await operatorMail.preview(mail, address), isOperator: true };
    }
    const isKnown = named !== "forged" && await reports.find(named) !== null;
    return { code: isKnown ? null : "not_found", isOperator: false };
  }

  async #nameOf(address: string): Promise<"operator" | BouncedMail | "forged" | null> {
    const { domain, secret } = this.services;
    const at = address.lastIndexOf("@");
    if (at < 1 || address.slice(at + 1).toLowerCase() !== domain) return null;
    const localPart = address.slice(0, at);
    const [name] = localPart.toLowerCase().split("+", 1) as [string];
    if (OPERATOR.has(name)) return "operator";
    if (name !== "bounce") return null;
    return readBounceAddress(localPart, await secret.key("mail-bounce")) ?? "forged";
  }
}
