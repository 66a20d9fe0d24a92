/**
 * Changes to the content of an inbox. A message and its thread, indexes and counts are rows, which
 * commits write unchecked; one record of the inbox guards them all (records/mailbox_record.ts).
 *
 * A change reads rows, and its commit requires that the guard has not changed since: what was read
 * still holds. In one process the changes of an inbox are made one after the other, so that they do not outdate
 * each other; changes of several processes are read again.
 */
import { unavailable } from "../../base/errors.ts";
import type { Limits } from "../../base/config/limits.ts";
import { Semaphore } from "../../base/bounds/semaphore.ts";
import type { GroupCommit } from "../../base/storage/commits/group_commit.ts";
import { JOB_BYTES, type Reads, type Transaction } from "../../base/storage/commits/job.ts";
import { type RecordCache, recordName } from "../../base/storage/commits/record_cache.ts";
import type { RecordKey } from "../../base/storage/commits/record_key.ts";
import type { MailboxWaits } from "../../base/waiting/mailbox_waits.ts";
import { type CallingKey, requireCaller, requireOrg } from "../access/require_org.ts";
import { inboxKey, type InboxRecord } from "../records/inbox_record.ts";
import { keysKey } from "../records/key_record.ts";
import { EMPTY_MAILBOX, mailboxKey, type MailboxRecord } from "../records/mailbox_record.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import { unknownObject } from "../access/unknown_object.ts";
import { MailboxChanged } from "./mail_inboxes.ts";

/** The guard as a change finds and leaves it. */
export type Mailbox = Omit<MailboxRecord, "v" | "changes">;

/** What the plan of a change is given. */
export interface MailboxTransaction {
  transaction: Transaction;
  org: OrgRecord;
  inbox: InboxRecord;
  mailbox: Mailbox;
}

/** A change whose reading is done. */
export interface MailboxChange<T> {
  /** Bytes of the content that it holds while it waits, where it holds any. */
  sizeBytes?: number;
  /**
   * Decides and writes rows; as Job.plan(). A commit on a KV server checks ten records in all; four are
   * taken, five where a key asks for it: org, keys, inbox, guard and the writer's slot.
   * @returns the guard as it is left, and the result
   */
  plan(given: MailboxTransaction): { mailbox: Mailbox; result: T };
}

export interface MailboxServices {
  records: Pick<RecordCache, "read">;
  commits: GroupCommit;
  limits: Limits;
  waits: MailboxWaits<MailboxRecord, string>;
}

/** Changes of one inbox that may wait, not counting those of deliveries. */
const MAX_WAITING = 64;

export class Mailboxes {
  /** Changes of one inbox are made one after the other. */
  readonly #locks = new Semaphore<string>({ permits: 1 });

  constructor(private readonly services: MailboxServices) {}

  /** The guard as it is; one without a message for an inbox that has had none. */
  async read(orgId: string, inboxId: string): Promise<Mailbox> {
    return await this.services.records.read<MailboxRecord>(mailboxKey(orgId, inboxId)) ??
      EMPTY_MAILBOX;
  }

  /** Whether an inbox is there: of one that was deleted rows may be left for a while. */
  async has(orgId: string, inboxId: string): Promise<boolean> {
    return await this.services.records.read<InboxRecord>(inboxKey(orgId, inboxId)) !== null;
  }

  /**
   * @param coming changes that are on their way to this class
   * @throws RelayError `unavailable` where as many wait, or are coming, as may wait
   */
  refuseWhenBusy(orgId: string, inboxId: string, coming = 0): void {
    const waiting = this.#locks.countOf(recordName(mailboxKey(orgId, inboxId)));
    if (Math.max(waiting, coming) < MAX_WAITING) return;
    throw unavailable(
      "too many changes of this inbox wait for each other; try again in a moment",
      1_000,
    );
  }

  /**
   * Makes one change. What it plans rests on what `prepare` has read, else it is prepared again.
   * @param by the key that asks for it; the id of the org where none does, but the relay itself or a
   * person who was let in otherwise
   * @param prepare reads rows of the inbox; called again where they are outdated, or plan() throws Outdated
   * @throws RelayError `unavailable` where too many wait, `not_found` for an inbox that has gone,
   * `unknown_key` for an org that has, what requireCaller() and plan() throw
   */
  async change<T>(
    by: CallingKey | string,
    inboxId: string,
    prepare: (mailbox: Mailbox) => Promise<MailboxChange<T>> | MailboxChange<T>,
  ): Promise<T> {
    const { commits, limits, waits } = this.services;
    const caller = typeof by === "string" ? null : by;
    const orgId = typeof by === "string" ? by : by.org.id;
    const key = mailboxKey(orgId, inboxId);
    this.refuseWhenBusy(orgId, inboxId);
    const { result } = await this.withLock(
      orgId,
      inboxId,
      () =>
        commits.submit<MailboxChanged<T>, MailboxChange<T>>({
          // What each change asks for; prepare() names the guard.
          records: [
            orgKey(orgId),
            ...caller === null ? [] : [keysKey(orgId)],
            inboxKey(orgId, inboxId),
          ],
          sizeBytes: ({ sizeBytes = JOB_BYTES }) => sizeBytes,
          // The guard before its rows.
          prepare: async (reads) => await prepare(await reads.get(key) ?? EMPTY_MAILBOX),
          plan(transaction, change) {
            const org = caller === null
              ? requireOrg(transaction, orgId, limits)
              : requireCaller(transaction, caller, limits);
            const inbox = transaction.record(inboxKey(orgId, inboxId));
            if (inbox === null) throw unknownObject("inbox");
            return planChange({ transaction, org, inbox }, key, change);
          },
          committed({ mailbox, isRaised }) {
            if (isRaised) waits.announce(mailbox);
          },
        }),
    );
    return result;
  }

  /** Does work under the lock of an inbox, after the changes that wait: for commits made by others. */
  async withLock<T>(orgId: string, inboxId: string, work: () => Promise<T>): Promise<T> {
    return await this.#locks.run(work, recordName(mailboxKey(orgId, inboxId)));
  }

  /**
   * Prepares a change that travels in a commit of somebody else's. It brings no new message, and of an
   * inbox or an org that has gone nothing is changed.
   * @param nowMs decides whether an org has expired: the commit's own time may have leapt
   * @param reads of the job that makes the commit
   * @param prepare as in change(); null where nothing is to be changed
   * @returns what plans it
   */
  async extraWrites(
    orgId: string,
    inboxId: string,
    nowMs: number,
    reads: Reads,
    prepare: (mailbox: Mailbox) => Promise<MailboxChange<void> | null>,
  ): Promise<((transaction: Transaction) => void) | null> {
    const { limits } = this.services;
    const key = mailboxKey(orgId, inboxId);
    const found = await reads.get(key) ?? EMPTY_MAILBOX;
    const change = await prepare(found);
    if (change === null) return null;
    return (transaction) => {
      const org = transaction.record(orgKey(orgId));
      const inbox = transaction.record(inboxKey(orgId, inboxId));
      const isGone = org === null || inbox === null || orgState(org, nowMs, limits) === "gone";
      if (!isGone) planChange({ transaction, org, inbox }, key, change);
    };
  }
}

/** Plans a change on the guard that it was prepared with. */
function planChange<T>(
  { transaction, org, inbox }: Omit<MailboxTransaction, "mailbox">,
  key: RecordKey<MailboxRecord>,
  change: MailboxChange<T>,
): MailboxChanged<T> {
  const current = transaction.record(key) ?? EMPTY_MAILBOX;
  const { mailbox, result } = change.plan({ transaction, org, inbox, mailbox: current });
  transaction.putRecord(key, { ...mailbox, v: 1, changes: current.changes + 1 });
  return new MailboxChanged(key, mailbox.headId !== current.headId, result);
}
