/**
 * What is left of deleted inboxes is erased by a sweep: in small commits, by one process at a time,
 * going on wherever a process was stopped. It begins after the commit that took the inbox away; every
 * commit of a mailbox checks the inbox's record, so that nothing can be added behind it.
 */
import type { Blobs } from "../../blobs/blobs.ts";
import type { Log } from "../../deps.ts";
import { describeFailure } from "../../http/describe_failure.ts";
import type { GroupCommit } from "../../storage/group_commit.ts";
import { Outdated } from "../../storage/job.ts";
import { LeasedSteps } from "../../storage/leased_steps.ts";
import type { Leases } from "../../storage/leases.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import type { Store } from "../../storage/store.ts";
import { count, dayOf, figureRecords } from "../figures/figures_record.ts";
import { countsOfRemoved } from "../figures/removed_recipients.ts";
import { storageKey } from "../mailboxes/storage_use.ts";
import { draftOwnerKey, type DraftRow } from "../records/draft_record.ts";
import { EMPTY_MAILBOX, mailboxKey, type MailboxRecord } from "../records/mailbox_record.ts";
import { type MessageRow, objectKey } from "../records/message_record.ts";
import { REPEATED_MAILS, repeatIndexKey } from "../receiving/repeats.ts";
import { withdrawAnswers, withdrawProposal } from "../sending/withdraw_answer.ts";
import { INBOX_TABLES, inboxErasureKey } from "./inbox_rows.ts";

export interface InboxErasuresOptions {
  store: Store;
  records: Pick<RecordCache, "read">;
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
/** Each takes its object row and its blob's rows with it, which together must fit one commit. */
const MESSAGES_A_STEP = 20;
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
    const rows = await this.options.store.list({ prefix: ["mail-inbox-erasure"] });
    return rows.map(({ key }) => ({ orgId: key[1] as string, inboxId: key[2] as string }));
  }

  /** One commit. @returns whether there may be more to do */
  async #step({ orgId, inboxId }: DeletedInbox): Promise<boolean> {
    const { store, records } = this.options;
    const guard = await records.read<MailboxRecord>(mailboxKey(orgId, inboxId)); // before its rows
    for (const table of INBOX_TABLES) {
      if (table === "mail-mailbox") continue; // a record of one key: it goes with the end
      const prefix = [table, orgId, inboxId];
      const limit = table === "mail-message" ? MESSAGES_A_STEP : ROWS_A_STEP;
      const rows = await store.list({ prefix }, { limit });
      if (rows.length === 0) continue;
      await this.#erase({ orgId, inboxId }, guard, withinDays(rows)).catch((error) => {
        if (!(error instanceof Outdated)) throw error; // another process was at it: read again
      });
      return true;
    }
    await this.#end(orgId, inboxId);
    return false;
  }

  /**
   * Erases rows, and with those of messages and threads what leads to them and their bytes.
   * @throws Outdated where the guard is another than before the rows were read
   */
  async #erase(
    { orgId, inboxId }: DeletedInbox,
    guard: MailboxRecord | null,
    rows: readonly Deno.KvEntry<unknown>[],
  ): Promise<void> {
    const { commits, blobs } = this.options;
    const mailbox = mailboxKey(orgId, inboxId);
    const figures = figureRecords(orgId, ...rows.flatMap((row) => waitingSince(row) ?? []));
    await commits.submit<void>({
      records: [mailbox, storageKey(orgId), ...figures],
      sizeBytes: 100 * rows.length,
      plan(turn) {
        const current = turn.record(mailbox);
        if (current?.attempt !== guard?.attempt) throw new Outdated();
        const { attempt } = turn;
        turn.putRecord(mailbox, { ...current ?? EMPTY_MAILBOX, attempt });
        for (const entry of rows) {
          const { key, value } = entry;
          turn.delete(key);
          if (key[0] === REPEATED_MAILS.name) turn.delete(repeatIndexKey(entry));
          if (key[0] === "mail-thread") turn.delete(objectKey(orgId, key[3] as string));
          if (key[0] === "mail-draft") {
            const draft = value as DraftRow;
            turn.delete(objectKey(orgId, draft.id));
            turn.delete(draftOwnerKey(draft.id));
            blobs.drop(turn, draft.texts);
            if (draft.files !== null) blobs.drop(turn, draft.files);
            withdrawProposal(turn, { blobs }, draft);
          }
          if (key[0] !== "mail-message") continue;
          const row = value as MessageRow;
          turn.delete(objectKey(orgId, row.id));
          blobs.drop(turn, row.blob);
          withdrawAnswers(turn, { blobs }, row);
          if (isWaiting(row)) count(turn, orgId, row.createdAtMs, countsOfRemoved(row));
        }
      },
    });
  }

  async #end(orgId: string, inboxId: string): Promise<void> {
    const { commits } = this.options;
    const mailbox = mailboxKey(orgId, inboxId);
    await commits.submit<void>({
      records: [mailbox],
      sizeBytes: 1_000,
      plan(turn) {
        turn.putRecord(mailbox, null);
        turn.delete(inboxErasureKey(orgId, inboxId));
      },
    });
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
