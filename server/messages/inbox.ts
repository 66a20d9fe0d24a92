/** The inbox poll: a page, the stamp of its first delivery, and the wait for a message to come. */
import { Buffer } from "node:buffer";
import type { Limits } from "../limits.ts";
import { inKey, type InRecord } from "../mailboxes/records.ts";
import { type GroupCommit, Outdated } from "../storage/group_commit.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../storage/store.ts";
import type { Arrivals } from "./arrivals.ts";
import { outboxKey, type OutboxRow, unreadKey, type UnreadRow } from "./message_row.ts";
import { PollFloor, refuseEarlyPoll } from "./poll_floor.ts";
import { pollKey, type PollRecord } from "./poll_record.ts";
import type { StoredMessage, StoredMessages } from "./stored_messages.ts";

export interface PollQuery {
  sinceId: number;
  limit: number;
  /** Only messages that were never delivered. */
  unread: boolean;
  waitMs: number;
}

export interface PollPage {
  messages: StoredMessage[];
  lastId: number;
}

export interface InboxOptions {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  limits: Limits;
  arrivals: Arrivals;
  messages: StoredMessages;
}

interface Unread {
  id: number;
  row: UnreadRow;
}

export class Inbox {
  readonly #floor: PollFloor;

  constructor(private readonly options: InboxOptions) {
    this.#floor = new PollFloor(options.limits.inboxPollIntervalMs);
  }

  /** The page that a poll would give, without any effect (HEAD). */
  async peek(agentId: number, query: PollQuery): Promise<PollPage> {
    return (await this.#read(agentId, query)).page;
  }

  /**
   * An accepted poll: gives a page, stamping what it delivers for the first time, in the commit
   * before the answer.
   * @param gone signal that aborts when the client has left; asked for by polls that wait
   * @throws RelayError `rate_limited` when the last accepted poll began too recently
   */
  async poll(agentId: number, query: PollQuery, gone: () => AbortSignal): Promise<PollPage> {
    const { store, arrivals, limits } = this.options;
    const beganMs = store.now();
    const waits = query.waitMs > 0 && arrivals.size < limits.waitingPolls;
    // A shared store records the poll in a commit: with the page's stamps, or before a wait.
    const recordsNow = !store.exclusive && !waits;
    const undo = this.#floor.begin(agentId, beganMs);
    try {
      if (!store.exclusive && waits) await this.#stamp(agentId, [], beganMs, true);
      arrivals.replace(agentId);
      return waits
        ? await this.#waitForPage(agentId, query, beganMs, gone())
        : await this.#deliver(agentId, query, beganMs, recordsNow);
    } catch (error) {
      undo();
      throw error;
    }
  }

  async #waitForPage(
    agentId: number,
    query: PollQuery,
    beganMs: number,
    gone: AbortSignal,
  ): Promise<PollPage> {
    // Registered before reading: a message that comes in between is not missed.
    let waiter = this.options.arrivals.await(agentId);
    let ended: () => void = () => {};
    const end = new Promise<"end">((resolve) => ended = () => resolve("end"));
    const timer = setTimeout(ended, query.waitMs);
    gone.addEventListener("abort", ended, { once: true });
    try {
      for (;;) {
        if (gone.aborted) return { messages: [], lastId: query.sinceId };
        const page = await this.#deliver(agentId, query, beganMs, false);
        if (page.messages.length > 0) return page;
        const reason = await Promise.race([waiter.woken, end]);
        if (reason !== "message") return { messages: [], lastId: query.sinceId };
        waiter = this.options.arrivals.await(agentId, true);
      }
    } finally {
      clearTimeout(timer);
      gone.removeEventListener("abort", ended);
      waiter.cancel();
    }
  }

  /** Reads a page and stamps it; reads again where another poll changed what it rests on. */
  async #deliver(
    agentId: number,
    query: PollQuery,
    beganMs: number,
    recordPoll: boolean,
  ): Promise<PollPage> {
    for (;;) {
      const { page, unread, version } = await this.#read(agentId, query);
      try {
        if (unread.length > 0 || recordPoll) {
          await this.#stamp(agentId, unread, beganMs, recordPoll, version, query, page);
        }
        return page;
      } catch (error) {
        if (!(error instanceof Outdated)) throw error;
      }
    }
  }

  async #read(
    agentId: number,
    query: PollQuery,
  ): Promise<{ page: PollPage; unread: Unread[]; version: string | null | undefined }> {
    const { records, store, messages } = this.options;
    const { sinceId, limit } = query;
    const inbox = await records.read<InRecord>(inKey(agentId));
    const nothing = { messages: [], lastId: sinceId };
    if (inbox === null || inbox.head <= sinceId) {
      return { page: nothing, unread: [], version: undefined };
    }
    if (!store.exclusive) records.evict(`poll/${agentId}`);
    const poll = await records.load(pollKey(agentId));
    const version = poll.versionstamp;
    const readUpTo = (poll.value as PollRecord | null)?.readUpTo ?? 0;
    const nowMs = store.now();
    if (query.unread) {
      const unread: Unread[] = [];
      const found: StoredMessage[] = [];
      let from = Math.max(sinceId, readUpTo);
      while (found.length < limit) {
        const some = await this.#unread(agentId, from + 1, undefined, limit - found.length);
        if (some.length === 0) break;
        from = some.at(-1)!.id;
        unread.push(...some);
        found.push(...await messages.inboxMessages(agentId, some.map(({ id }) => id), nowMs));
      }
      const shown = new Set(found.map(({ id }) => id));
      return {
        page: pageOf(found, sinceId),
        unread: unread.filter(({ id }) => shown.has(id)),
        version,
      };
    }
    const page = pageOf(await messages.inboxPage(agentId, sinceId, limit, nowMs), sinceId);
    if (page.messages.length === 0 || page.lastId <= readUpTo) return { page, unread: [], version };
    const firstId = Math.max(page.messages[0]!.id, readUpTo + 1);
    const shown = new Set(page.messages.map(({ id }) => id));
    const unread = await this.#unread(agentId, firstId, page.lastId + 1, limit);
    return { page, unread: unread.filter(({ id }) => shown.has(id)), version };
  }

  async #unread(
    agentId: number,
    firstId: number,
    endId: number | undefined,
    limit: number,
  ): Promise<Unread[]> {
    const start = unreadKey(agentId, firstId);
    const selector = endId === undefined
      ? { prefix: ["unread", agentId], start }
      : { start, end: unreadKey(agentId, endId) };
    const found: Unread[] = [];
    const rows = this.options.store.kv.list<UnreadRow>(selector, { limit });
    for await (const { key, value } of rows) found.push({ id: key[2] as number, row: value });
    return found;
  }

  /** One commit: delivered_at of these messages, and on a shared store the poll itself. */
  async #stamp(
    agentId: number,
    unread: readonly Unread[],
    beganMs: number,
    recordPoll: boolean,
    version?: string | null,
    query?: PollQuery,
    page?: PollPage,
  ): Promise<void> {
    const { commits, limits, messages } = this.options;
    const key = pollKey(agentId);
    await commits.submit<null>({
      records: [key],
      cost: { checks: 0, mutations: 2 * unread.length, bytes: 500 + 300 * unread.length },
      proof: key,
      plan: (turn) => {
        // Another poll of this agent may have stamped what was read: read again.
        if (turn.changedInGroup(key)) throw new Outdated();
        if (version !== undefined && turn.versionOf(key) !== version) throw new Outdated();
        const before = turn.record<PollRecord>(key);
        if (recordPoll && before !== null) {
          refuseEarlyPoll(before.lastPollMs, beganMs, limits.inboxPollIntervalMs);
        }
        const readUpTo = before?.readUpTo ?? 0;
        // The page continues what was read without a gap: everything up to its end is read now.
        const contiguous = page !== undefined && !query!.unread && query!.sinceId <= readUpTo;
        const lastPollMs = Math.max(before?.lastPollMs ?? 0, beganMs);
        turn.putRecord(
          key,
          {
            v: 1,
            lastPollMs: lastPollMs > beganMs + 5_000 ? beganMs : lastPollMs,
            readUpTo: contiguous ? Math.max(readUpTo, page.lastId) : readUpTo,
            attempt: turn.attempt,
          } satisfies PollRecord,
        );
        for (const { id, row } of unread) {
          turn.delete(unreadKey(agentId, id));
          const { createdAtMs } = row;
          const leftMs = Math.min(createdAtMs, turn.nowMs) + messages.retentionMs - turn.nowMs;
          turn.set(
            outboxKey(row.senderId, id),
            {
              v: 1,
              recipientId: agentId,
              deliveredAtMs: turn.nowMs,
              createdAtMs,
            } satisfies OutboxRow,
            leftMs + EXPIRY_MARGIN_MS,
          );
        }
        return null;
      },
      committed: () => this.#floor.written(agentId),
    });
  }

  /** Writes the times of polls that no commit recorded. Called every minute and at shutdown. */
  async flush(): Promise<void> {
    const unwritten = this.#floor.takeUnwritten();
    if (!this.options.store.exclusive) return;
    await Promise.all(
      [...unwritten].map(([agentId, beganMs]) => this.#stamp(agentId, [], beganMs, false)),
    );
  }
}

function pageOf(messages: StoredMessage[], sinceId: number): PollPage {
  return { messages, lastId: messages.at(-1)?.id ?? sinceId };
}

const OPENING = Buffer.from('{"messages":[');
const COMMA = Buffer.from(",");

/** The answer of GET /v1/inbox as UTF-8 JSON. */
export function encodePage({ messages, lastId }: PollPage): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [OPENING];
  for (const [i, { json }] of messages.entries()) {
    if (i > 0) parts.push(COMMA);
    parts.push(json);
  }
  parts.push(Buffer.from(`],"last_id":${lastId}}`));
  return Buffer.concat(parts);
}
