/** What a change of a recipient counts as (docs/mail.md, "Usage and health"). Pure. */
import type { Counts, StandingFigure } from "../../records/figures_record.ts";
import { added } from "../../records/figures_record.ts";
import type { Recipient, RecipientStatus } from "../../records/message_record.ts";
import type { RecipientEvent } from "../../mailbox/statuses/recipient_status.ts";

const STANDINGS: Readonly<Record<Exclude<RecipientStatus, "bounced">, StandingFigure>> = {
  queued: "pending",
  sending: "pending",
  deferred: "deferred",
  sent: "sent",
  delivered: "delivered",
  complained: "complained",
  failed: "failed",
};

/**
 * @param event that brought the recipient from `before` to `after`
 * @returns counts for the hour that the message was accepted in
 */
export function countsOf(before: Recipient, after: Recipient, event: RecipientEvent): Counts {
  const from = STANDINGS[before.status as Exclude<RecipientStatus, "bounced">];
  const to = after.status === "bounced"
    ? (event.isHard ? "bouncedHard" : "bouncedSoft")
    : STANDINGS[after.status];
  const moved = added({ [from]: -1 }, { [to]: 1 });
  return added(moved, fateOf(before, event));
}

function fateOf({ status }: Recipient, { trigger }: RecipientEvent): Counts {
  switch (trigger) {
    case "refused":
      return { refused: 1 };
    case "accepted":
      return { taken: 1 };
    case "reported_delivered":
    case "reported_bounced":
    case "complained":
      // A reported recipient must have been sent to, whatever the reply at the time.
      return status === "sent" || status === "delivered" ? {} : { taken: 1 };
    default:
      return {};
  }
}
