/** Mail inboxes as mailboxes to wait at. */
import type { RecordKey } from "../../base/storage/commits/record_key.ts";
import type { MailboxKind } from "../../base/waiting/mailbox_kind.ts";
import type { MailboxRecord } from "../records/mailbox_record.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** What a committed change of a mailbox hands on. */
export class MailboxChanged<T> {
  constructor(
    readonly mailbox: RecordKey<MailboxRecord>,
    /** Whether it has a new newest message. */
    readonly isRaised: boolean,
    readonly result: T,
  ) {}
}

const wakeKey = defineRow<[n: number]>(["mail-wake"], 1, {
  holds: 'as `["wake", n]`, of mail inboxes',
});

export const MAIL_INBOXES: MailboxKind<MailboxRecord, string> = {
  marks: wakeKey.under(),
  headOf: ({ headId }) => headId ?? "",
  changedBy: (result) =>
    result instanceof MailboxChanged && result.isRaised ? [result.mailbox] : [],
};
