/** The status of a message, from its recipients' statuses (docs/mail.md). Pure. */
import type { MessageRow, Recipient, RecipientStatus } from "../../records/message_record.ts";
import { nextStatus } from "./recipient_status.ts";

export type MessageStatus = RecipientStatus | "received" | "scheduled" | "cancelled";

/** The first of these that any recipient has. */
const ANY: readonly RecipientStatus[] = [
  "queued",
  "sending",
  "deferred",
  "complained",
  "bounced",
  "failed",
];

/** @param isSending whether the recipient of an index is being sent to right now */
export function messageStatus(
  row: Pick<MessageRow, "direction" | "sendAtMs" | "cancelledAtMs" | "recipients">,
  nowMs: number,
  isSending: (recipient: number) => boolean = () => false,
): MessageStatus {
  if (row.direction === "inbound") return "received";
  if (row.cancelledAtMs !== null) return "cancelled";
  if (row.sendAtMs !== null && nowMs < row.sendAtMs) return "scheduled";
  const statuses = row.recipients.map((recipient, i) => statusNow(recipient, isSending(i)));
  for (const status of ANY) if (statuses.includes(status)) return status;
  return statuses.every((status) => status === "delivered") ? "delivered" : "sent";
}

/** The status of a recipient as it is shown: "sending" while it is being sent to. */
export function statusNow(recipient: Recipient, isSending: boolean): RecipientStatus {
  return isSending && nextStatus(recipient, "begun")?.status || recipient.status;
}
