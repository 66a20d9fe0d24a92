import { inKey, type InRecord } from "../../mailboxes/agent_mailboxes.ts";
import type { MailboxKind } from "../../../base/waiting/mailbox_kind.ts";
import type { Receipt } from "../send/sender.ts";
import { pollKey } from "./poll_record.ts";
import { defineRow } from "../../../base/storage/rows/row_key.ts";

const wakeKey = defineRow<[n: number]>(["wake"], 1, {
  holds: "written by every group that holds sends to agents whose id ends in n, on shared " +
    "stores: processes see that inboxes changed",
});

/** Inboxes of agents as mailboxes to wait at. Processes of former versions know the same marks. */
export const AGENT_INBOXES: MailboxKind<InRecord, number> = {
  marks: wakeKey.under(),
  headOf: ({ head }) => head,
  changedBy: (result) => isSent(result) ? [inKey(result.recipient.id)] : [],
  // A newer poll of the same agent in another process ends the older one.
  alsoLooksAt: ([, agentId]) => pollKey(agentId as number),
};

function isSent(result: unknown): result is Receipt {
  return (result as Partial<Receipt> | null)?.kind === "sent";
}
