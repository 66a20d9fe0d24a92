/** Takes a scheduled message back before it goes out (docs/mail.md, "A message"). */
import { RelayError } from "../../errors.ts";
import type { Store } from "../../storage/store.ts";
import { messageStatus } from "../delivery/message_status.ts";
import { count } from "../figures/figures_record.ts";
import type { CallingKey } from "../keys/require_org.ts";
import type { Mailboxes } from "../mailboxes/mailboxes.ts";
import { readThread } from "../messages/find_thread.ts";
import type { Messages } from "../messages/messages.ts";
import { stageChange } from "../messages/stage_message.ts";
import type { MessageRow } from "../records/message_record.ts";
import { unknownObject } from "../unknown_object.ts";

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
          const { turn } = given;
          if (messageStatus(row, turn.nowMs) !== "scheduled") throw alreadySent();
          const cancelled: MessageRow = {
            ...row,
            cancelledAtMs: turn.nowMs,
            recipients: row.recipients.map((one) => ({ ...one, nextAttemptAtMs: null })),
          };
          count(turn, orgId, row.createdAtMs, { pending: -row.recipients.length });
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
