/**
 * Corrects the network's figures after a ban or unban, step by step. A sweep walks the mailbox of
 * its agent, newest message first. It takes each event off the feed or puts it back.
 *
 * What keeps it correct, whichever process works and whenever it stops:
 * - An event is on the feed exactly while it is counted: each step changes both in one commit.
 * - Steps of all sweeps run one after the other: each checks and writes LAST_SWEEP_STEP. What a step has
 *   read of the feed and of bans is therefore still true when it commits.
 * - Each step checks and updates its own sweep record. A later ban or unban replaces the record,
 *   and the former sweep cannot go on.
 * - An event comes back only when neither side is banned. A later unban of the other side walks it
 *   again.
 */
import type { Identities } from "../agents/identities.ts";
import { inKey, type InRecord } from "../mailboxes/records.ts";
import { isPurged, purgeKey, type PurgeRecord } from "../messages/rows/purge_record.ts";
import { type GroupCommit, Outdated } from "../storage/group_commit.ts";
import { LeasedSteps } from "../storage/leased_steps.ts";
import type { Leases } from "../storage/leases.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import type { Store } from "../storage/store.ts";
import { BlockFinder } from "./block_finder.ts";
import { type FeedEvent, feedEventOf } from "./feed_block.ts";
import {
  correctionSizeBytes,
  type FeedCorrection,
  LAST_SWEEP_STEP,
  MAX_CHANGED_EVENTS,
  stageCorrection,
  takeOffFeed,
} from "./feed_correction.ts";
import { type SweptMessage, walkMailbox } from "./mailbox_walk.ts";
import { countOf, type Swept } from "./record_figures.ts";
import { SWEEP_PREFIX, sweepKey, type SweepRecord } from "./sweep_record.ts";
import type { Count } from "./tally_rows.ts";

/** Bound of one step, so that it fits a commit. */
const MESSAGES_A_STEP = 200;

export interface SweepOptions {
  store: Store;
  records: RecordCache;
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
    this.#steps = new LeasedSteps({
      leases: options.leases,
      name: "sweeps",
      pending: () => this.#pending(),
      step: (agentId) => this.#step(agentId),
    });
  }

  /**
   * Works until no sweep is left, or another process works. Includes sweeps that begin meanwhile.
   */
  run(): Promise<void> {
    return this.#steps.run();
  }

  /** Ends after the step under way; the next process goes on from there. */
  close(): Promise<void> {
    return this.#steps.close();
  }

  async #pending(): Promise<number[]> {
    const rows = await this.options.store.list({ prefix: SWEEP_PREFIX });
    return rows.map(({ key }) => key[1] as number);
  }

  /** One step of an agent's sweep. @returns whether there may be more to do */
  async #step(agentId: number): Promise<boolean> {
    const { store, commits, retentionMs, messagesAStep = MESSAGES_A_STEP } = this.options;
    // Read first: what is read from here on is true until another step is made.
    const [stepRow, sweepRow, purgeRow] = await store.getMany<[unknown, SweepRecord, PurgeRecord]>([
      LAST_SWEEP_STEP,
      sweepKey(agentId),
      purgeKey(agentId),
    ]);
    const sweep = sweepRow.value;
    if (sweep === null) return false;
    const { messages, next } = await walkMailbox(store, agentId, sweep, messagesAStep);
    // A poll at that moment may have written the row of a purged message again.
    const there = messages.filter(({ senderId, id }) =>
      senderId !== agentId || !isPurged(purgeRow.value, id)
    );
    const correction = sweep.kind === "hide"
      ? await takeOffFeed(store, messages)
      : await this.#show(there);
    const { lastId } = correction;
    const moreOfBox = lastId !== undefined ? { ...sweep, beforeId: lastId } : next;
    try {
      await commits.submit<Swept>({
        records: [LAST_SWEEP_STEP, sweepKey(agentId)],
        sizeBytes: correctionSizeBytes(correction),
        plan(turn) {
          turn.requireVersion(sweepKey(agentId), sweepRow.versionstamp);
          turn.putRecord(sweepKey(agentId), moreOfBox);
          return stageCorrection(turn, correction, stepRow.versionstamp, retentionMs);
        },
      });
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
      return true; // another process was faster: look again
    }
    return moreOfBox !== null;
  }

  async #show(messages: readonly SweptMessage[]): Promise<FeedCorrection> {
    const { store, retentionMs } = this.options;
    const finder = new BlockFinder(store);
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

  /** Which of the agents in these messages are banned. */
  async #bannedOf(messages: readonly SweptMessage[]): Promise<Set<number>> {
    const agentIds = [...new Set(messages.flatMap((one) => [one.senderId, one.recipientId]))];
    const inboxes = await this.options.records.readMany<InRecord>(agentIds.map(inKey));
    return new Set(agentIds.filter((_, i) => inboxes[i]?.banned));
  }
}
