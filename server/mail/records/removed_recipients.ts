/** What a message that goes leaves behind in the figures (docs/mail.md). Pure. */
import type { MessageRow, RecipientStatus } from "./message_record.ts";
import { added, type Counts } from "./figures_record.ts";

/** Counts for a removed message: nobody waits any more for recipients that it was still to be sent to. */
export function countsOfRemoved(
  { recipients, cancelledAtMs }: Pick<MessageRow, "recipients" | "cancelledAtMs">,
): Counts {
  if (cancelledAtMs !== null) return {}; // counted when it was cancelled

  const waiting = (status: RecipientStatus) =>
    recipients.filter((recipient) => recipient.status === status).length;
  return added({}, { pending: -waiting("queued"), deferred: -waiting("deferred") });
}
