/** What a report of delivery brings about for the recipient that its bounce address names. Pure. */
import { parseSmtpReply } from "../../../base/mailer/smtp_reply.ts";
import {
  detailOf,
  isHardBounce,
  NO_REPLY,
  type ReplyDetails,
} from "../../mailbox/statuses/classify_reply.ts";
import type { DsnAction, DsnRecipient } from "../../reading/reports/dsn.ts";
import type { RecipientEvent, Trigger } from "../../mailbox/statuses/recipient_status.ts";

/**
 * A delayed report changes nothing, and neither does one that the mail was relayed to servers
 * which do not report; "expanded" says that it reached the address, which is a list (RFC 3464, section 2.3.3).
 */
const TRIGGERS: Readonly<Record<DsnAction, Trigger | null>> = {
  failed: "reported_bounced",
  delivered: "reported_delivered",
  expanded: "reported_delivered",
  delayed: null,
  relayed: null,
};

/** @returns null for a report that changes nothing */
export function reportEvent(report: DsnRecipient): RecipientEvent | null {
  const trigger = TRIGGERS[report.action];
  if (trigger === null) return null;
  const said = saidIn(report);
  return {
    trigger,
    said,
    isHard: trigger === "reported_bounced" && isHardBounce(said, null),
  };
}

function saidIn({ status, diagnostic }: DsnRecipient): ReplyDetails {
  if (diagnostic === null) return { ...NO_REPLY, enhancedCode: status };
  const reply = diagnostic.type === "smtp" ? parseSmtpReply(diagnostic.text) : null;
  // Some servers write 5.0.0 whatever they were told, and what they were told beside it.
  const isVague = status === null || status.endsWith(".0.0");
  return {
    smtpCode: reply?.code ?? null,
    enhancedCode: (isVague ? reply?.enhancedCode : null) ?? status,
    detail: detailOf(reply?.text ?? diagnostic.text),
  };
}
