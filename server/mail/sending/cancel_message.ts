/** Takes a scheduled message back before it goes out (docs/mail.md, "A message"). */
import { RelayError } from "../../base/errors.ts";
import { messageStatus } from "../mailbox/statuses/message_status.ts";
import { count } from "../records/figures_record.ts";
import type { CallingKey } from "../access/require_org.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { readThread } from "../mailbox/messages/find_thread.ts";
import { stageChange } from "../mailbox/messages/stage_message.ts";
import type { MessageRow } from "../records/message_record.ts";
import { unknownObject } from "../access/unknown_object.ts";

/**
 * @returns the message as it is then
 * @throws RelayError `already_sent` for one that is not scheduled, or whose time has come, and as
 * requireCaller()
 */
export async function cancelMessage(
  { store, mailboxes, messages }: MailCore,
  caller: CallingKey,
  { orgId, inboxId, id }: MessageRow,
): Promise<MessageRow> {
  return await mailboxes.change(caller, inboxId, async () => {
    const row = await messages.read(orgId, inboxId, id);
    const thread = row && await readThread(store, orgId, inboxId, row.threadId);
    if (row === null || thread === null) throw unknownObject("message");
    return {
      plan(given) {
        const { transaction } = given;
        if (messageStatus(row, transaction.nowMs) !== "scheduled") throw alreadySent();
        const cancelled: MessageRow = {
          ...row,
          cancelledAtMs: transaction.nowMs,
          recipients: row.recipients.map((one) => ({ ...one, nextAttemptAtMs: null })),
        };
        count(transaction, orgId, row.createdAtMs, { pending: -row.recipients.length });
        return { ...stageChange(given, row, cancelled, thread), result: cancelled };
      },
    };
  });
}

function alreadySent(): RelayError {
  return new RelayError(
    "already_sent",
    "only a scheduled message can be cancelled, until its send_at; what became of this one is in its recipients",
  );
}
