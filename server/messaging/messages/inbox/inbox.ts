/** The inbox poll: a page, the stamp of its first delivery, and the wait for a message to come. */
import { CLOCK_SKEW_MS } from "../../../base/time/clock_skew.ts";
import type { Limits } from "../../../base/config/limits.ts";
import { inKey, type InRecord } from "../../mailboxes/agent_mailboxes.ts";
import { type GroupCommit, Outdated } from "../../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../../../base/storage/rows/store.ts";
import type { MailboxWaits } from "../../../base/waiting/mailbox_waits.ts";
import type { Waiter } from "../../../base/waiting/waiter.ts";
import { outboxKey, type OutboxRow } from "../rows/message_row.ts";
import { PollFloor, refuseEarlyPoll } from "./poll_floor.ts";
import {
  emptyPage,
  InboxReader,
  type PollPage,
  type PollQuery,
  type Reading,
} from "./inbox_reader.ts";
import type { PageBudget } from "./page_budget.ts";
import { MAX_READ_RANGES, pollKey, type PollRecord, readKey } from "./poll_record.ts";
import { addRange } from "./read_ranges.ts";
import type { StoredMessages } from "../rows/stored_messages.ts";

export interface InboxOptions {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  limits: Limits;
  waits: MailboxWaits<InRecord, number>;
  messages: StoredMessages;
  pages: PageBudget;
}

/** Longest wait of a poll, in seconds (docs/api.md, "Limits"). */
export const MAX_WAIT_S = 25;

/** A poll that delivers nothing. */
const NOTHING: Reading = {
  page: emptyPage(0),
  unread: [],
  headId: 0,
  version: undefined,
};

const FLUSHED_TOGETHER = 100;

export class Inbox {
  readonly #floor: PollFloor;
  readonly #reader: InboxReader;
  /** The one waiting poll of an agent in this process. */
  readonly #waiting = new Map<number, Waiter<number>>();

  constructor(private readonly options: InboxOptions) {
    this.#reader = new InboxReader(options);
    this.#floor = new PollFloor(options.limits.inboxPollIntervalMs);
  }

  /** Whether a poll would give a message, without any effect. */
  finds(agentId: number, query: PollQuery): Promise<boolean> {
    return this.#reader.finds(agentId, query);
  }

  /**
   * An accepted poll: gives a page, stamping what it delivers for the first time, in the commit
   * before the answer. A page that is not empty is in hand: the caller gives or ends it. Most polls
   * find nothing: those that need not wait get their page at once.
   * @param gone signal that aborts when the client has left; asked for by polls that wait
   * @param confirm called before a poll that was woken reads again; throws when the credential it
   * came with has died while it waited
   * @throws RelayError `rate_limited` when the last accepted poll began too recently, `unavailable`
   * when too many pages or answers are in hand; nothing is stamped then
   */
  poll(
    agentId: number,
    query: PollQuery,
    gone: () => AbortSignal,
    confirm: () => unknown = () => {},
  ): PollPage | Promise<PollPage> {
    const { store, records } = this.options;
    const beganMs = store.now();
    const undo = this.#floor.begin(agentId, beganMs);
    if (query.waitMs === 0) {
      const inbox = records.inMemory(inKey(agentId));
      if (inbox !== undefined && inbox.head <= query.sinceId) {
        this.#waiting.get(agentId)?.end();
        return emptyPage(query.sinceId);
      }
    }
    return this.#begun(agentId, query, beganMs, undo, gone, confirm);
  }

  async #begun(
    agentId: number,
    query: PollQuery,
    beganMs: number,
    undo: () => void,
    gone: () => AbortSignal,
    confirm: () => unknown,
  ): Promise<PollPage> {
    const { store, waits } = this.options;
    const { waitMs } = query;
    const signal = waitMs > 0 ? gone() : undefined;
    // It waits from here on: a message that comes while it reads is not missed.
    const waiter = waitMs > 0 ? waits.open(inKey(agentId), { waitMs, signal }) : null;
    try {
      // A shared store records the poll in a commit: with the page's stamps, or before a wait.
      const recordsNow = !store.exclusive && waiter === null;
      if (!store.exclusive && waiter !== null) await this.#record(agentId, beganMs, true);
      this.#waiting.get(agentId)?.end();
      if (waiter === null) return await this.#deliver(agentId, query, beganMs, recordsNow);
      this.#waiting.set(agentId, waiter);
      return await this.#waitForPage(agentId, query, beganMs, waiter, signal!, confirm);
    } catch (error) {
      undo();
      throw error;
    } finally {
      waiter?.end();
      if (waiter !== null && this.#waiting.get(agentId) === waiter) this.#waiting.delete(agentId);
    }
  }

  async #waitForPage(
    agentId: number,
    query: PollQuery,
    beganMs: number,
    waiter: Waiter<number>,
    gone: AbortSignal,
    confirm: () => unknown,
  ): Promise<PollPage> {
    for (;;) {
      if (gone.aborted) return emptyPage(query.sinceId);
      const page = await this.#deliver(agentId, query, beganMs, false, waiter);
      if (page.messages.length > 0) return page;
      if (await waiter.next() !== "changed" || await this.#isReplaced(agentId, beganMs)) {
        return emptyPage(query.sinceId);
      }
      await confirm();
    }
  }

  /** Whether another process has accepted a newer poll of the agent. */
  async #isReplaced(agentId: number, beganMs: number): Promise<boolean> {
    const { store, records } = this.options;
    if (store.exclusive) return false;
    const poll = await records.read<PollRecord>(pollKey(agentId));
    return poll !== null && poll.lastPollMs > beganMs &&
      poll.lastPollMs <= store.now() + CLOCK_SKEW_MS;
  }

  /** Reads a page and stamps it; reads again where another poll changed what it rests on. */
  async #deliver(
    agentId: number,
    query: PollQuery,
    beganMs: number,
    recordPoll: boolean,
    waiter?: Waiter<number>,
  ): Promise<PollPage> {
    for (;;) {
      const reading = await this.#reader.read(agentId, query);
      try {
        if (reading.unread.length > 0 || recordPoll) {
          await this.#stamp(agentId, beganMs, recordPoll, query.sinceId, reading);
        }
        reading.page.reservation?.endReading();
        waiter?.hasRead(reading.headId);
        return reading.page;
      } catch (error) {
        reading.page.reservation?.end();
        if (!(error instanceof Outdated)) throw error;
      }
    }
  }

  /**
   * When the last accepted poll of an agent began, recorded or not yet; null before the first.
   * Stored times of a clock that has jumped are given as they are.
   */
  async lastPollMs(agentId: number): Promise<number | null> {
    const poll = await this.options.records.read<PollRecord>(pollKey(agentId));
    const rememberedMs = this.rememberedPollMs(agentId);
    if (poll === null) return rememberedMs;
    return rememberedMs === null ? poll.lastPollMs : Math.max(poll.lastPollMs, rememberedMs);
  }

  /** The same, from what this process remembers. */
  rememberedPollMs(agentId: number): number | null {
    return this.#floor.lastBeganMs(agentId);
  }

  /** A poll that delivers nothing, in a commit of its own. */
  #record(agentId: number, beganMs: number, isChecked: boolean): Promise<void> {
    return this.#stamp(agentId, beganMs, isChecked, 0, NOTHING);
  }

  /** One commit: delivered_at of a page's new messages, and where asked the poll itself. */
  async #stamp(
    agentId: number,
    beganMs: number,
    recordPoll: boolean,
    sinceId: number,
    { page, unread, version }: Reading,
  ): Promise<void> {
    const { commits, limits, messages } = this.options;
    const key = pollKey(agentId);
    await commits.submit<void>({
      records: [key],
      sizeBytes: 400 + 300 * unread.length,
      whateverTheClock: true, // nothing could be read
      plan: (transaction) => {
        // Another poll of this agent may have delivered what was read here: read again.
        if (version !== undefined) transaction.requireVersion(key, version);
        const before = transaction.record<PollRecord>(key);
        if (recordPoll && before !== null) {
          refuseEarlyPoll(before.lastPollMs, beganMs, limits.inboxPollIntervalMs);
        }
        const known = before?.read ?? [];
        const lowest = messages.lowestRetainedId(transaction.nowMs);
        // All there was from the cursor, or the oldest retained message, to the last one given has
        // been delivered now. What lies before was hidden: a clock that jumps back shows it again.
        const from = Math.max(sinceId + 1, lowest);
        let read = addRange(known, from, page.lastId);
        if (read.length > 2 * MAX_READ_RANGES) read = addRange(read, 1, lowest - 1);
        const fits = read.length <= 2 * MAX_READ_RANGES;
        const lastPollMs = before?.lastPollMs ?? 0;
        transaction.putRecord(
          key,
          {
            v: 1,
            lastPollMs: lastPollMs > beganMs && lastPollMs <= beganMs + CLOCK_SKEW_MS
              ? lastPollMs
              : beganMs,
            read: fits ? read : known,
            overflow: (before?.overflow ?? false) || !fits,
          } satisfies PollRecord,
        );
        for (const { id, row } of unread) {
          const { createdAtMs, senderId } = row;
          const leftMs = Math.min(createdAtMs, transaction.nowMs) + messages.retentionMs -
            transaction.nowMs;
          const expireInMs = leftMs + EXPIRY_MARGIN_MS;
          const deliveredAtMs = transaction.nowMs;
          transaction.set(
            outboxKey(senderId, id),
            { v: 1, recipientId: agentId, deliveredAtMs, createdAtMs } satisfies OutboxRow,
            expireInMs,
          );
          if (!fits) transaction.set(readKey(agentId, id), 1, expireInMs);
        }
      },
      committed: () => this.#floor.written(agentId, beganMs),
    });
  }

  /**
   * Writes the times of polls that no commit recorded. Called every minute and at shutdown. Digests
   * alone read them: of an agent without an address nothing is written, and a poll before its address
   * was set counts for nothing.
   */
  async flush(): Promise<void> {
    if (!this.options.store.exclusive) return; // there each poll is recorded as it is accepted
    const unwritten = this.#floor.unwritten();
    // Some at a time: they must not fill the queue that sends wait in.
    for (let at = 0; at < unwritten.length; at += FLUSHED_TOGETHER) {
      const some = unwritten.slice(at, at + FLUSHED_TOGETHER);
      await Promise.all(some.map(([agentId, beganMs]) => this.#flushPoll(agentId, beganMs)));
      await new Promise((resolve) => setTimeout(resolve, 0)); // most of them wait for nothing
    }
  }

  async #flushPoll(agentId: number, beganMs: number): Promise<void> {
    const inbox = await this.options.records.read<InRecord>(inKey(agentId));
    if (inbox?.notify === true) await this.#record(agentId, beganMs, false);
    else this.#floor.written(agentId, beganMs);
  }
}
