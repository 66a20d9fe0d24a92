/** Changes one recipient of a message, with all that is counted, listed and told of it, in one commit. */
import type { ExtraWrites } from "../../../base/outgoing/outgoing_handler.ts";
import {
  Outdated,
  type Reads,
  type Transaction,
} from "../../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import { valueSizeBytes } from "../../../base/storage/rows/stored_size.ts";
import { outgoingKey, type OutgoingRow } from "../../../base/outgoing/outgoing_row.ts";
import { count } from "../../records/figures_record.ts";
import type { MailboxChange, Mailboxes, MailboxTransaction } from "../../core/mailboxes.ts";
import { hearersOf, stageEvent } from "../../core/stage_event.ts";
import { readThread } from "../../mailbox/messages/find_thread.ts";
import { messageKey, type MessageRow, type Recipient } from "../../records/message_record.ts";
import { orgKey, type OrgRecord } from "../../records/org_record.ts";
import type { ThreadRow } from "../../records/thread_record.ts";
import { stageSuppression } from "../../mailbox/suppressions/suppressions.ts";
import { type MailPayload, mailRowId } from "../../mailbox/statuses/queued_mail.ts";
import { OUTCOME_EVENTS, outcomeEvents, withDeparture } from "./recipient_events.ts";
import { countsOf } from "./recipient_figures.ts";
import {
  afterEvent,
  isWithoutAttempt,
  type RecipientEvent,
} from "../../mailbox/statuses/recipient_status.ts";

/** A change of a recipient, as its commit makes it. */
export interface ChangedRecipient {
  row: MessageRow;
  recipient: number;
  before: Recipient;
  after: Recipient;
  event: RecipientEvent;
}

export interface RecipientChangeServices {
  store: Store;
  records: Pick<RecordCache, "load">;
  mailboxes: Mailboxes;
  random: (sizeBytes: number) => Uint8Array;
  /** Adds to the commit of each change. */
  onChange?(transaction: Transaction, changed: ChangedRecipient): void;
}

/** A row is one value of the store, which takes 64 KiB. */
const MAX_ROW_BYTES = 60_000;

export class RecipientChanges {
  constructor(private readonly services: RecipientChangeServices) {}

  async read({ orgId, inboxId, messageId }: MailPayload): Promise<MessageRow | null> {
    const store = this.services.store;
    const key = messageKey(orgId, inboxId, messageId);
    return (await store.get<MessageRow>(key)).value;
  }

  /**
   * Prepares a change for the commit that ends the recipient's row of the outgoing queue, or puts it
   * back.
   * @returns null where there is no such recipient any more
   */
  async extraWrites(
    named: MailPayload,
    event: RecipientEvent,
    reads: Reads,
  ): Promise<ExtraWrites | null> {
    const { store, mailboxes } = this.services;
    return await mailboxes.extraWrites(
      named.orgId,
      named.inboxId,
      store.now(),
      reads,
      () => this.#prepare(named, event, () => !isWithoutAttempt(event.trigger)),
    );
  }

  /**
   * Changes a recipient by what somebody reports of it.
   * @returns the change; "unknown" without such a message or recipient, "unchanged" where it stands
   * already as it is told, or for good
   * @throws RelayError `not_found`, `unknown_key` where inbox or org have gone meanwhile
   */
  async report(
    named: MailPayload,
    event: RecipientEvent,
  ): Promise<ChangedRecipient | "unknown" | "unchanged"> {
    const queued = outgoingKey(mailRowId(named.messageId, named.recipient));
    // It may come before the final reply: then the process that sends it holds the row.
    const isHeld = (transaction: Transaction) => {
      const row = transaction.record<OutgoingRow>(queued);
      return row !== null && (row.lease !== null || row.phase === "data");
    };
    return await this.services.mailboxes.change<ChangedRecipient | "unknown" | "unchanged">(
      named.orgId,
      named.inboxId,
      async () => {
        let changed: ChangedRecipient | null = null;
        const change = await this.#prepare(named, event, isHeld, (one) => changed = one);
        if (change === null) {
          return { plan: ({ mailbox }) => ({ mailbox, result: "unknown" }) };
        }
        return {
          plan(given) {
            changed = null;
            const { mailbox } = change.plan(given);
            return { mailbox, result: changed ?? "unchanged" };
          },
        };
      },
    );
  }

  async #prepare(
    named: MailPayload,
    event: RecipientEvent,
    isHeld: (transaction: Transaction) => boolean,
    onPlanned: (changed: ChangedRecipient) => void = () => {},
  ): Promise<MailboxChange<void> | null> {
    const { onChange } = this.services;
    const row = await this.read(named);
    const before = row?.recipients[named.recipient];
    if (row === null || before === undefined) return null;
    const { orgId } = row;
    const suppresses = suppressionOf(event);
    const thread = await this.#heardThread(row);
    return {
      plan: ({ transaction, org, mailbox }) => {
        const result = { mailbox, result: undefined };
        const isSending = isHeld(transaction);
        const after = afterEvent(before, event, { nowMs: transaction.nowMs, isSending });
        if (after === null) return result;
        const changed = {
          row: withRecipient(row, named.recipient, after, event),
          before,
          after,
        };
        const { id, inboxId } = row;
        transaction.set(messageKey(orgId, inboxId, id), changed.row);
        count(transaction, orgId, row.createdAtMs, countsOf(before, after, event));
        if (after.status === "bounced") {
          count(transaction, orgId, transaction.nowMs, { bounces: 1 });
        }
        if (suppresses !== null) {
          stageSuppression(transaction, orgId, before.address, {
            reason: suppresses,
            messageId: id,
          });
        }
        this.#stageEvents({ transaction, org }, {
          before: row,
          after: changed.row,
          recipient: named.recipient,
          thread,
        });
        const told = { ...changed, recipient: named.recipient, event };
        onChange?.(transaction, told);
        onPlanned(told);
        return result;
      },
    };
  }

  /**
   * The thread of a message, where a webhook could hear what becomes of it; undefined where none does. The org
   * is as memory has it, so that nothing is read for it: the plan knows better.
   */
  async #heardThread(
    { orgId, inboxId, threadId }: MessageRow,
  ): Promise<ThreadRow | null | undefined> {
    const { records, store } = this.services;
    const org = (await records.load(orgKey(orgId))).value as OrgRecord | null;
    const isHeard = org !== null &&
      OUTCOME_EVENTS.some((type) => hearersOf(org, type, inboxId).length > 0);
    return isHeard ? await readThread(store, orgId, inboxId, threadId) : undefined;
  }

  /** @throws Outdated where somebody hears it who did not when it was prepared */
  #stageEvents(
    { transaction, org }: Pick<MailboxTransaction, "transaction" | "org">,
    { before, after, recipient, thread }: {
      before: MessageRow;
      after: MessageRow;
      recipient: number;
      thread: ThreadRow | null | undefined;
    },
  ): void {
    let last: string | null = null;
    for (const type of outcomeEvents(before, after, recipient)) {
      if (hearersOf(org, type, after.inboxId).length === 0) continue;
      if (thread === undefined) throw new Outdated();
      if (thread === null) return; // no message is without one
      const of = type === "message.sent" ? {} : { recipient };
      const subject = { message: after, thread, ...of };
      last = stageEvent(transaction, org, type, subject, this.services.random, last);
    }
  }
}

function suppressionOf({ trigger, isHard }: RecipientEvent): "complaint" | "hard_bounce" | null {
  if (trigger === "complained") return "complaint";
  return isHard ? "hard_bounce" : null;
}

/** A message with a recipient as it is now; what the other side said gives way where there is no room. */
function withRecipient(
  row: MessageRow,
  recipient: number,
  after: Recipient,
  { trigger }: RecipientEvent,
): MessageRow {
  const withOne = (one: Recipient) =>
    withDeparture({ ...row, recipients: row.recipients.with(recipient, one) }, trigger);
  const changed = withOne(after);
  return valueSizeBytes(changed) <= MAX_ROW_BYTES ? changed : withOne({ ...after, detail: null });
}
