/**
 * What a ban or unban changes in the network's figures, made up for step by step: a sweep walks the
 * mailbox of its agent, newest message first, and takes each event off the feed or puts it back.
 *
 * What keeps it correct, whoever works and whenever it stops:
 * - An event stands on the feed exactly while it is counted: each step moves both in one commit.
 * - Steps of all sweeps are one after the other: each checks and writes SWEEP_TURN, so that what it
 *   has read of the feed, and of who is banned, still holds when it commits.
 * - Each step checks its own sweep record, which moves on with it: a later ban or unban replaces the
 *   record, and the former sweep cannot go on.
 * - An event comes back only when neither side is banned. Whoever is unbanned later walks it again.
 */
import { defineRecord } from "../storage/record_key.ts";
import type { Identities } from "../agents/identities.ts";
import { inKey, type InRecord } from "../mailboxes/records.ts";
import { type GroupCommit, Outdated } from "../storage/group_commit.ts";
import type { Lease, Leases } from "../storage/leases.ts";
import { retryWhileLocked } from "../storage/lock_retry.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../storage/store.ts";
import { BlockFinder } from "./block_finder.ts";
import { firstCountedMinute } from "./counted.ts";
import { encodeBlock, type FeedEvent, feedEventOf, feedKey, newestSentMs } from "./feed_block.ts";
import { type SweptMessage, walkMailbox } from "./mailbox_walk.ts";
import { countOf, type Swept } from "./record_figures.ts";
import { SWEEP_PREFIX, sweepKey, type SweepRecord } from "./sweep_record.ts";
import type { Count } from "./tally_rows.ts";
import { takeWorkLease } from "./work_lease.ts";

/** ["sweep-turn", 0]: written by every step of every sweep. */
interface SweepTurn {
  v: 1;
  attempt: string;
}

const SWEEP_TURN = defineRecord<SweepTurn>(["sweep-turn", 0], 0)();

/** Bounds of one step, so that it fits a commit. */
const MESSAGES_A_STEP = 200;
const MAX_CHANGED_EVENTS = 3_000;
const EVENT_BYTES = 120;
const GET_MANY = 10;
const LEASE_MS = 30_000;
const LEASE_ATTEMPTS = 40;
const LEASE_PAUSE_MS = 50;

export interface SweepOptions {
  store: Store;
  commits: GroupCommit;
  leases: Leases;
  identities: Identities;
  /** Life of a message and of its feed event. */
  retentionMs: number;
  messagesAStep?: number;
}

export class Sweeps {
  #working: Promise<void> | null = null;
  #again = false;
  #closed = false;

  constructor(private readonly options: SweepOptions) {}

  /** Works until no sweep is left, or another process works; what is begun meanwhile included. */
  run(): Promise<void> {
    this.#again = true;
    return this.#working ??= this.#work().finally(() => this.#working = null);
  }

  /** Ends after the step under way; the next process goes on from there. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#working?.catch(() => {});
  }

  async #work(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      if ((await this.#pending()).length === 0) continue;
      const lease = await this.#takeLease();
      if (lease === null) return;
      try {
        if (!(await this.#endAll(lease))) return;
      } finally {
        await lease.release();
      }
    }
  }

  /** Works until no sweep is left. @returns false where the lease was lost, or this is closed */
  async #endAll(lease: Lease): Promise<boolean> {
    const { now } = this.options.store;
    let renewedMs = now();
    for (let left = await this.#pending(); left.length > 0; left = await this.#pending()) {
      for (const agentId of left) {
        while (!this.#closed && await this.#step(agentId)) {
          if (now() - renewedMs < LEASE_MS / 3) continue;
          if (!(await lease.renew())) return false;
          renewedMs = now();
        }
      }
      if (this.#closed) return false;
    }
    return true;
  }

  /** Another process may be at its last step, and not see a sweep that has just begun. */
  async #takeLease(): Promise<Lease | null> {
    const { store, leases } = this.options;
    for (let attempt = 0; attempt < LEASE_ATTEMPTS && !this.#closed; attempt++) {
      const lease = await takeWorkLease(store, leases, "sweeps", LEASE_MS);
      if (lease !== null) return lease;
      await new Promise((resolve) => setTimeout(resolve, LEASE_PAUSE_MS));
      if ((await this.#pending()).length === 0) return null;
    }
    return null;
  }

  async #pending(): Promise<number[]> {
    const { kv } = this.options.store;
    return await retryWhileLocked(async () => {
      const agentIds: number[] = [];
      for await (const { key } of kv.list({ prefix: SWEEP_PREFIX })) {
        agentIds.push(key[1] as number);
      }
      return agentIds;
    });
  }

  /** One step of an agent's sweep. @returns whether there may be more to do */
  async #step(agentId: number): Promise<boolean> {
    const { store: { kv }, commits, retentionMs, messagesAStep = MESSAGES_A_STEP } = this.options;
    // First of all: whatever is read from here on holds until the turn changes.
    const [turnRow, sweepRow] = await retryWhileLocked(() =>
      kv.getMany<[unknown, SweepRecord]>([SWEEP_TURN, sweepKey(agentId)])
    );
    const sweep = sweepRow.value;
    if (sweep === null) return false;
    const { messages, next } = await walkMailbox(kv, agentId, sweep, messagesAStep);
    const { blocks, moved, lastId } = sweep.kind === "hide"
      ? await this.#hide(messages)
      : await this.#show(messages);
    const moreOfBox = lastId !== undefined ? { ...sweep, beforeId: lastId } : next;
    const events = blocks.reduce((sum, block) => sum + block.events.length, 0);
    try {
      await commits.submit<Swept>({
        records: [SWEEP_TURN, sweepKey(agentId)],
        sizeBytes: EVENT_BYTES * (events + moved.length) + 100 * blocks.length,
        proof: SWEEP_TURN,
        plan(turn) {
          if (turn.changedInGroup(SWEEP_TURN) || turn.changedInGroup(sweepKey(agentId))) {
            throw new Outdated();
          }
          if (turn.versionOf(SWEEP_TURN) !== turnRow.versionstamp) throw new Outdated();
          if (turn.versionOf(sweepKey(agentId)) !== sweepRow.versionstamp) throw new Outdated();
          turn.putRecord(SWEEP_TURN, { v: 1, attempt: turn.attempt });
          turn.putRecord(sweepKey(agentId), moreOfBox);
          for (const { id, events } of blocks) {
            if (events.length === 0) turn.delete(feedKey(id));
            else {
              const leftMs = newestSentMs(events) + retentionMs - turn.nowMs;
              turn.set(feedKey(id), encodeBlock(events), leftMs + EXPIRY_MARGIN_MS);
            }
          }
          const first = firstCountedMinute(turn.nowMs);
          return { kind: "swept", corrections: moved.filter(({ minute }) => minute >= first) };
        },
      });
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
      return true; // somebody else was faster: look again
    }
    return moreOfBox !== null;
  }

  async #hide(messages: readonly SweptMessage[]) {
    const finder = new BlockFinder(this.options.store.kv);
    const moved: Count[] = [];
    await finder.prepare(messages.map(({ id }) => id));
    for (const { id } of messages) {
      const event = await finder.remove(id);
      if (event !== null) moved.push({ ...countOf(event), count: -1 });
      if (finder.changedEvents > MAX_CHANGED_EVENTS) {
        return { blocks: finder.changed(), moved, lastId: id };
      }
    }
    return { blocks: finder.changed(), moved, lastId: undefined };
  }

  async #show(messages: readonly SweptMessage[]) {
    const { store, retentionMs } = this.options;
    const finder = new BlockFinder(store.kv);
    await finder.prepare(messages.map(({ id }) => id));
    const banned = await this.#bannedOf(messages);
    const moved: Count[] = [];
    for (const message of messages) {
      if (store.now() - message.createdAtMs >= retentionMs) continue;
      if (banned.has(message.senderId) || banned.has(message.recipientId)) continue;
      const event = await this.#eventOf(message);
      if (event !== null && await finder.insert(event)) moved.push(countOf(event));
      if (finder.changedEvents > MAX_CHANGED_EVENTS) {
        return { blocks: finder.changed(), moved, lastId: message.id };
      }
    }
    return { blocks: finder.changed(), moved, lastId: undefined };
  }

  async #eventOf(
    { id, createdAtMs, senderId, recipientId }: SweptMessage,
  ): Promise<FeedEvent | null> {
    const { identities } = this.options;
    const [sender, recipient] = await Promise.all([
      identities.byId(senderId),
      identities.byId(recipientId),
    ]);
    return feedEventOf({ id, createdAtMs, sender, recipient });
  }

  /** Which of the agents in these messages are banned, by the store itself. */
  async #bannedOf(messages: readonly SweptMessage[]): Promise<Set<number>> {
    const { kv } = this.options.store;
    const agentIds = [...new Set(messages.flatMap((one) => [one.senderId, one.recipientId]))];
    const banned = new Set<number>();
    for (let from = 0; from < agentIds.length; from += GET_MANY) {
      const some = agentIds.slice(from, from + GET_MANY);
      const rows = await retryWhileLocked(() => kv.getMany<InRecord[]>(some.map(inKey)));
      for (const [i, row] of rows.entries()) if (row.value?.banned) banned.add(some[i]!);
    }
    return banned;
  }
}
