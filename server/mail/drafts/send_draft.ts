/** Sends drafts: the commit that accepts the message takes the draft away (docs/mail.md). */
import { RelayError } from "../../base/errors.ts";
import type { MailboxTransaction } from "../core/mailboxes.ts";
import { stageEvent } from "../core/stage_event.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { type DraftRow, writerOf } from "../records/draft_record.ts";
import type { Inbox } from "../records/inbox_record.ts";
import type { KeyedWork } from "../mailbox/answers/keyed_answers.ts";
import type { Sender, SendingParty } from "../sending/sender.ts";
import { draftMessage } from "./draft_message.ts";
import type { Drafts } from "./drafts.ts";
import { isAsItGoesOut } from "./reduced_texts.ts";
import { stageDraftRemoval } from "./stage_draft.ts";

export interface SendDraftServices extends MailCore {
  drafts: Drafts;
  sender: Sender;
}

export interface SendDraftOptions {
  keyed?: KeyedWork;
  /** Refuses where the draft has gone meanwhile. */
  gone: () => RelayError;
  /** Refuses by what the commit finds. @throws RelayError */
  require?: (given: MailboxTransaction) => void;
}

/**
 * Sends this very revision of a draft, once.
 * @returns the answer as Sender.send() gives it
 * @throws RelayError `draft_changed` for another revision, what `gone` makes, `invalid_json` for a
 * draft that lacks something, and what Sender.send() throws
 */
export async function sendDraft(
  { drafts, messages, sender, blobs, now, random }: SendDraftServices,
  by: SendingParty,
  inbox: Inbox,
  row: DraftRow,
  { keyed, gone, require }: SendDraftOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { orgId, inboxId, inReplyToMessageId } = row;
  const { texts } = await drafts.whole(row);
  const about = inReplyToMessageId === null
    ? null
    : await messages.read(orgId, inboxId, inReplyToMessageId);
  const attachments = await drafts.files(row);
  const message = draftMessage({ row, texts, attachments, about }, now());
  let current = row;
  return await sender.send(by, inbox, message, {
    ...(keyed === undefined ? {} : { keyed }),
    writtenByKey: writerOf(row),
    draftId: row.id,
    extras: {
      async prepare() {
        const found = await drafts.read(row);
        if (found === null) throw gone();
        if (found.revision !== row.revision) throw draftChanged(found.revision);
        current = found;
      },
      answer: () => current.answer,
      plan(given, message) {
        require?.(given);
        if (!isAsItGoesOut({ row: current, texts }, given.inbox)) {
          throw draftChanged(current.revision + 1);
        }
        const { transaction, org } = given;
        stageEvent(transaction, org, "draft.sent", { draft: current, message }, random);
        return stageDraftRemoval(given, { blobs }, current);
      },
    },
  });
}

/** @param revision that it has now */
export function draftChanged(revision: number): RelayError {
  return new RelayError(
    "draft_changed",
    `the draft has revision ${revision} by now; read it again, and send the revision that you mean`,
  );
}
