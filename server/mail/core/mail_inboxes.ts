/** Mail inboxes as mailboxes to wait at. */
import type { RecordKey } from "../../base/storage/commits/record_key.ts";
import type { MailboxKind } from "../../base/waiting/mailbox_kind.ts";
import type { MailboxRecord } from "../records/mailbox_record.ts";

/** What a committed change of a mailbox hands on. */
export class MailboxChanged<T> {
  constructor(
    readonly mailbox: RecordKey<MailboxRecord>,
    /** Whether it has a new newest message. */
    readonly isRaised: boolean,
    readonly result: T,
  ) {}
}

export const MAIL_INBOXES: MailboxKind<MailboxRecord, string> = {
  marks: ["mail-wake"],
  headOf: ({ headId }) => headId ?? "",
  changedBy: (result) =>
    result instanceof MailboxChanged && result.isRaised ? [result.mailbox] : [],
};
