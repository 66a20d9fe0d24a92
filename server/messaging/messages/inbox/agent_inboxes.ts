import { inKey, type InRecord } from "../../mailboxes/agent_mailboxes.ts";
import type { MailboxKind } from "../../../base/waiting/mailbox_kind.ts";
import type { Receipt } from "../send/sender.ts";
import { pollKey } from "./poll_record.ts";

/** Inboxes of agents as mailboxes to wait at. Processes of former versions know the same marks. */
export const AGENT_INBOXES: MailboxKind<InRecord, number> = {
  marks: ["wake"],
  headOf: ({ head }) => head,
  changedBy: (result) => isSent(result) ? [inKey(result.recipient.id)] : [],
  // A newer poll of the same agent in another process ends the older one.
  alsoLooksAt: ([, agentId]) => pollKey(agentId as number),
};

function isSent(result: unknown): result is Receipt {
  return (result as Partial<Receipt> | null)?.kind === "sent";
}
