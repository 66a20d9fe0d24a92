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
import type { Identities } from "../agents/identities.ts";
import { inKey, type InRecord } from "../mailboxes/records.ts";
import { isPurged, purgeKey, type PurgeRecord } from "../messages/rows/purge_record.ts";
import { type GroupCommit, Outdated } from "../storage/group_commit.ts";
import { LeasedSteps } from "../storage/leased_steps.ts";
import type { Leases } from "../storage/leases.ts";
import { retryWhileLocked } from "../storage/lock_retry.ts";
import type { Store } from "../storage/store.ts";
import { BlockFinder } from "./block_finder.ts";
import { type FeedEvent, feedEventOf } from "./feed_block.ts";
import {
  correctionSizeBytes,
  type FeedCorrection,
  MAX_CHANGED_EVENTS,
  stageCorrection,
  SWEEP_TURN,
  takeOffFeed,
} from "./feed_correction.ts";
import { type SweptMessage, walkMailbox } from "./mailbox_walk.ts";
import { countOf, type Swept } from "./record_figures.ts";
import { SWEEP_PREFIX, sweepKey, type SweepRecord } from "./sweep_record.ts";
import type { Count } from "./tally_rows.ts";

/** Bound of one step, so that it fits a commit. */
const MESSAGES_A_STEP = 200;
const GET_MANY = 10;

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
  readonly #steps: LeasedSteps<number>;

  constructor(private readonly options: SweepOptions) {
    const { store, leases } = options;
    this.#steps = new LeasedSteps({
      store,
      leases,
      name: "sweeps",
      pending: () => this.#pending(),
      step: (agentId) => this.#step(agentId),
    });
  }

  /** Works until no sweep is left, or another process works; what is begun meanwhile included. */
  run(): Promise<void> {
    return this.#steps.run();
  }

  /** Ends after the step under way; the next process goes on from there. */
  close(): Promise<void> {
    return this.#steps.close();
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
    const [turnRow, sweepRow, purgeRow] = await retryWhileLocked(() =>
      kv.getMany<[unknown, SweepRecord, PurgeRecord]>([
        SWEEP_TURN,
        sweepKey(agentId),
        purgeKey(agentId),
      ])
    );
    const sweep = sweepRow.value;
    if (sweep === null) return false;
    const { messages, next } = await walkMailbox(kv, agentId, sweep, messagesAStep);
    // A poll of that moment may have written the row of a purged message again.
    const there = messages.filter(({ senderId, id }) =>
      senderId !== agentId || !isPurged(purgeRow.value, id)
    );
    const correction = sweep.kind === "hide"
      ? await takeOffFeed(kv, messages)
      : await this.#show(there);
    const { lastId } = correction;
    const moreOfBox = lastId !== undefined ? { ...sweep, beforeId: lastId } : next;
    try {
      await commits.submit<Swept>({
        records: [SWEEP_TURN, sweepKey(agentId)],
        sizeBytes: correctionSizeBytes(correction),
        proof: SWEEP_TURN,
        plan(turn) {
          if (turn.changedInGroup(sweepKey(agentId))) throw new Outdated();
          if (turn.versionOf(sweepKey(agentId)) !== sweepRow.versionstamp) throw new Outdated();
          turn.putRecord(sweepKey(agentId), moreOfBox);
          return stageCorrection(turn, correction, turnRow.versionstamp, retentionMs);
        },
      });
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
      return true; // somebody else was faster: look again
    }
    return moreOfBox !== null;
  }

  async #show(messages: readonly SweptMessage[]): Promise<FeedCorrection> {
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
