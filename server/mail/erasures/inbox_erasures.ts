/**
 * What is left of deleted inboxes is erased by a sweep: in small commits, by one process at a time,
 * going on wherever a process was stopped. It begins after the commit that took the inbox away; every
 * commit of a mailbox checks the inbox's record, so that nothing can be added behind it.
 */
import type { Blobs } from "../../base/blobs/blobs.ts";
import type { Log } from "../../base/log.ts";
import { describeFailure } from "../../base/describe_failure.ts";
import type { GroupCommit, Transaction } from "../../base/storage/commits/group_commit.ts";
import { LeasedSteps } from "../../base/storage/leases/leased_steps.ts";
import type { Leases } from "../../base/storage/leases/leases.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { count, dayOf } from "../records/figures_record.ts";
import { countsOfRemoved } from "../records/removed_recipients.ts";
import { EVENTS_A_COMMIT, stageEventErasure, type StoredEvent } from "../core/erase_events.ts";
import { draftOwnerKey, type DraftRow } from "../records/draft_record.ts";
import { EMPTY_MAILBOX, mailboxKey } from "../records/mailbox_record.ts";
import { type MessageRow, objectKey } from "../records/message_record.ts";
import type { Mark } from "../../base/idempotency/repetitions.ts";
import { REPEATED_MAILS } from "../receiving/repeats.ts";
import { withdrawAnswers, withdrawProposal } from "../mailbox/answers/withdraw_answer.ts";
import { INBOX_TABLES, inboxErasureKey } from "../mailbox/inboxes/inbox_rows.ts";

export interface InboxErasuresOptions {
  store: Store;
  commits: GroupCommit;
  leases: Leases;
  blobs: Pick<Blobs, "drop">;
  log: Log;
}

interface DeletedInbox {
  orgId: string;
  inboxId: string;
}

const ROWS_A_STEP = 100;
/** A message takes its object row and its blob's rows with it, which together must fit one commit. */
const LIMITS: Readonly<Record<string, number>> = {
  "mail-event": EVENTS_A_COMMIT,
  "mail-message": 20,
};
/** Records of figures that a commit changes beside its own: one on a KV server checks ten in all. */
const DAYS_A_STEP = 6;

export class InboxErasures {
  readonly #steps: LeasedSteps<DeletedInbox>;

  constructor(private readonly options: InboxErasuresOptions) {
    this.#steps = new LeasedSteps({
      leases: options.leases,
      name: "mail-inbox-erasures",
      pending: () => this.#pending(),
      step: (inbox) => this.#step(inbox),
    });
  }

  /** Works until nothing is left or another process works. */
  run(): Promise<void> {
    return this.#steps.run();
  }

  /** Works in the background; what fails is logged, and the next minute tries again. */
  begin(): void {
    this.run().catch((error) => this.options.log("mail_erasure_stopped", describeFailure(error)));
  }

  /** Ends after the step under way; the next process goes on from there. */
  close(): Promise<void> {
    return this.#steps.close();
  }

  async #pending(): Promise<DeletedInbox[]> {
    const rows = await this.options.store.list({ prefix: inboxErasureKey.under() });
    return rows.map(({ key }) => ({ orgId: key[1] as string, inboxId: key[2] as string }));
  }

  /** One commit. @returns whether there may be more to do */
  async #step({ orgId, inboxId }: DeletedInbox): Promise<boolean> {
    const { commits } = this.options;
    const mailbox = mailboxKey(orgId, inboxId);
    return await commits.submit<boolean, readonly Deno.KvEntry<unknown>[]>({
      prepare: async (reads) => {
        await reads.get(mailbox); // before its rows
        return withinDays(await this.#firstRows(orgId, inboxId));
      },
      plan: (transaction, rows) => {
        for (const row of rows) this.#stageErasure(transaction, orgId, row);
        const isLeft = rows.length > 0;
        const guard = transaction.record(mailbox) ?? EMPTY_MAILBOX;
        // Written each time, so that another process that has read the same rows erases nothing twice.
        transaction.putRecord(mailbox, isLeft ? { ...guard, attempt: transaction.attempt } : null);
        if (!isLeft) transaction.delete(inboxErasureKey(orgId, inboxId));
        return isLeft;
      },
    });
  }

  /** The first rows of the first table that has any. */
  async #firstRows(orgId: string, inboxId: string): Promise<Deno.KvEntry<unknown>[]> {
    for (const table of INBOX_TABLES) {
      if (table === "mail-mailbox") continue; // a record of one key: it goes with the end
      const limit = LIMITS[table] ?? ROWS_A_STEP;
      const rows = await this.options.store.list({ prefix: [table, orgId, inboxId] }, { limit });
      if (rows.length > 0) return rows;
    }
    return [];
  }

  /** Erases a row, and with one of a message, thread or draft what leads to it and its bytes. */
  #stageErasure(transaction: Transaction, orgId: string, entry: Deno.KvEntry<unknown>): void {
    const { blobs } = this.options;
    const { key, value } = entry;
    if (key[0] === "mail-event") {
      return stageEventErasure(transaction, { blobs }, [entry as StoredEvent]);
    }
    transaction.delete(key);
    if (key[0] === REPEATED_MAILS.name) {
      transaction.delete(REPEATED_MAILS.endKey(key, value as Mark));
    }
    if (key[0] === "mail-thread") transaction.delete(objectKey(orgId, key[3] as string));
    if (key[0] === "mail-draft") {
      const draft = value as DraftRow;
      transaction.delete(objectKey(orgId, draft.id));
      transaction.delete(draftOwnerKey(draft.id));
      blobs.drop(transaction, draft.texts);
      if (draft.files !== null) blobs.drop(transaction, draft.files);
      withdrawProposal(transaction, { blobs }, draft);
    }
    if (key[0] !== "mail-message") return;
    const row = value as MessageRow;
    transaction.delete(objectKey(orgId, row.id));
    blobs.drop(transaction, row.blob);
    withdrawAnswers(transaction, { blobs }, row);
    if (isWaiting(row)) count(transaction, orgId, row.createdAtMs, countsOfRemoved(row));
  }
}

/** The first of the rows, up to those days that one commit counts. */
function withinDays(rows: readonly Deno.KvEntry<unknown>[]): readonly Deno.KvEntry<unknown>[] {
  const days = new Set<number>();
  const end = rows.findIndex((row) => {
    const sinceMs = waitingSince(row);
    return sinceMs !== null && days.add(dayOf(sinceMs)).size > DAYS_A_STEP;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

/** When a message was accepted whose recipients count as waiting. */
function waitingSince({ key, value }: Deno.KvEntry<unknown>): number | null {
  if (key[0] !== "mail-message") return null;
  const row = value as MessageRow;
  return isWaiting(row) ? row.createdAtMs : null;
}

function isWaiting(row: MessageRow): boolean {
  return Object.keys(countsOfRemoved(row)).length > 0;
}
