/** What becomes of a message that a person has to approve first: a draft (docs/mail.md). */
import { mayRead } from "../access/access.ts";
import type { MailCaller } from "../access/authenticate_key.ts";
import type { Inbox } from "../records/inbox_record.ts";
import type { KeyedWork } from "../mailbox/answers/keyed_answers.ts";
import type { MessageToSend } from "../sending/sender.ts";
import type { Drafts, WholeDraft } from "./drafts.ts";
import { draftFor } from "../mailbox/shown/shown_draft.ts";

/**
 * Keeps a message as a draft and asks a person to approve it.
 * @returns the answer, JSON: {status: "pending_approval", draft}
 * @throws RelayError as Drafts.create()
 */
export async function proposeDraft(
  drafts: Drafts,
  caller: MailCaller,
  inbox: Inbox,
  message: MessageToSend,
  keyed?: KeyedWork,
): Promise<Uint8Array<ArrayBuffer>> {
  const { inReplyTo: _, references: __, autoSubmitted: ___, about, ...words } = message;
  const made = await drafts.create(
    caller,
    inbox.id,
    {
      ...words,
      inReplyToMessageId: about?.id ?? null,
      clientId: null,
      // Whom a reply goes to, and its subject, a stranger wrote.
      isOfOneKey: about === null || mayRead(caller.key),
    },
    keyed === undefined ? undefined : { keyed, make: answerOf },
  );
  return answerOf(made);

  function answerOf({ row, texts }: WholeDraft): Uint8Array<ArrayBuffer> {
    const answer = { status: "pending_approval", draft: draftFor(caller.key, row, texts) };
    return new TextEncoder().encode(JSON.stringify(answer));
  }
}
