/** Takes a scheduled message back before it goes out (docs/mail.md, "A message"). */
import { RelayError } from "../../base/errors.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { messageStatus } from "../mailbox/statuses/message_status.ts";
import { count } from "../records/figures_record.ts";
import type { CallingKey } from "../access/require_org.ts";
import type { Mailboxes } from "../core/mailboxes.ts";
import { readThread } from "../mailbox/messages/find_thread.ts";
import type { Messages } from "../mailbox/messages/messages.ts";
import { stageChange } from "../mailbox/messages/stage_message.ts";
import type { MessageRow } from "../records/message_record.ts";
import { unknownObject } from "../access/unknown_object.ts";

export interface CancelServices {
  store: Store;
  mailboxes: Mailboxes;
  messages: Messages;
}

export class CancelMessage {
  constructor(private readonly services: CancelServices) {}

  /**
   * @returns the message as it is then
   * @throws RelayError `already_sent` for one that is not scheduled, or whose time has come, and as
   * requireCaller()
   */
  async run(caller: CallingKey, { orgId, inboxId, id }: MessageRow): Promise<MessageRow> {
    const { store, mailboxes, messages } = this.services;
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
}

function alreadySent(): RelayError {
  return new RelayError(
    "already_sent",
    "only a scheduled message can be cancelled, until its send_at; what became of this one is in its recipients",
  );
}
