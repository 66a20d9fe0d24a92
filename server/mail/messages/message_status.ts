/** What `status` says of a message (mail page, "Recipient status"). Pure. */
import type { MessageRow, RecipientStatus } from "../records/message_record.ts";

export type MessageStatus = "received" | "scheduled" | "cancelled" | RecipientStatus;

/** The first that any recipient is in decides. */
const DECISIVE: readonly RecipientStatus[] = [
  "queued",
  "sending",
  "deferred",
  "complained",
  "bounced",
  "failed",
];

export function statusOf(
  row: Pick<MessageRow, "direction" | "recipients" | "sendAtMs" | "cancelledAtMs">,
): MessageStatus {
  if (row.direction === "inbound") return "received";
  if (row.cancelledAtMs !== null) return "cancelled";
  if (row.sendAtMs !== null && row.recipients.every(isWaiting)) return "scheduled";
  const found = new Set(row.recipients.map(({ status }) => status));
  const decisive = DECISIVE.find((status) => found.has(status));
  if (decisive !== undefined) return decisive;
  return row.recipients.every(({ status }) => status === "delivered") ? "delivered" : "sent";
}

/** Not tried yet: a scheduled message is, once its time has come. */
function isWaiting({ status, attempts }: { status: RecipientStatus; attempts: number }): boolean {
  return status === "queued" && attempts === 0;
}
