/** Delivers to the relay's own inboxes, by the one way in for mail, and answers as a next hop would. */
import { RelayError } from "../../../base/errors.ts";
import type { SmtpReply } from "../../../base/mailer/smtp_reply.ts";
import type { Receiver } from "../../receiving/receiver.ts";
import type { RefusedCode } from "../../receiving/received_mail.ts";
import { insideAuth } from "../../receiving/sender_checks/fixed_auth.ts";
import type { DeliverInside } from "./mail_delivery.ts";

const TAKEN: SmtpReply = { code: 250, enhancedCode: "2.1.5", text: "delivered inside this relay" };
const LATER: SmtpReply = { code: 451, enhancedCode: "4.3.0", text: "this relay is busy" };

const REFUSALS: Readonly<Record<RefusedCode, SmtpReply>> = {
  not_found: { code: 550, enhancedCode: "5.1.1", text: "no such inbox here" },
  blocked: { code: 550, enhancedCode: "5.7.1", text: "the inbox does not take mail from you" },
  org_suspended: { code: 550, enhancedCode: "5.7.1", text: "the inbox takes no mail now" },
  over_quota: { code: 452, enhancedCode: "4.2.2", text: "the inbox has no room now" },
  rate_limited: { code: 452, enhancedCode: "4.2.2", text: "the inbox gets too much mail now" },
};

/** @param domain of all inboxes, lowercased */
export function deliverInside(receiver: Pick<Receiver, "receive">, domain: string): DeliverInside {
  return async ({ from, to, raw }) => {
    const mail = {
      from,
      to: [to],
      clientIp: null,
      clientHelo: null,
      raw: raw as Uint8Array<ArrayBuffer>,
      auth: insideAuth(domain),
      reachesOperator: true,
    };
    try {
      const { outcomes: [outcome] } = await receiver.receive(mail);
      const { code } = outcome!;
      return code === null ? TAKEN : REFUSALS[code];
    } catch (error) {
      if (error instanceof RelayError && error.code === "unavailable") return LATER;
      throw error;
    }
  };
}
