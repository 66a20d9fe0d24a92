/**
 * The purge of a banned agent. A sweep deletes everything that the agent sent from inboxes and
 * outboxes, newest message first. It also frees the agent's storage allowance. Heads, ids and
 * totals stay.
 *
 * Each step is one commit: the rows of some messages, their events on the feed, and how far the
 * sweep has come. A purge therefore goes on wherever a process stopped, and a message is whole or
 * gone. An unban does not end it. What was sent before the purge was asked for is deleted; what
 * comes later stays.
 */
import type { Identity } from "../agents/records.ts";
import type { Log } from "../deps.ts";
import { invalidJson } from "../errors.ts";
import { outKey, type OutRecord } from "../mailboxes/records.ts";
import { releaseBytes } from "../mailboxes/retained_bytes.ts";
import {
  PURGE_MARK,
  purgeKey,
  type PurgeRecord,
  PURGING_PREFIX,
  purgingKey,
} from "../messages/rows/purge_record.ts";
import type { RecentMessages } from "../messages/rows/recent_messages.ts";
import {
  correctionSizeBytes,
  LAST_SWEEP_STEP,
  stageCorrection,
  takeOffFeed,
} from "../network/feed_correction.ts";
import type { Swept } from "../network/record_figures.ts";
import { type GroupCommit, Outdated } from "../storage/group_commit.ts";
import { LeasedSteps } from "../storage/leased_steps.ts";
import type { Leases } from "../storage/leases.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../storage/store.ts";
import { listDoomed } from "./doomed_messages.ts";

export interface PurgeOptions {
  store: Store;
  commits: GroupCommit;
  leases: Leases;
  recent: RecentMessages;
  /** Life of a message. */
  retentionMs: number;
  log: Log;
  messagesAStep?: number;
}

const MESSAGES_A_STEP = 100;

export class Purges {
  readonly #steps: LeasedSteps<number>;

  constructor(private readonly options: PurgeOptions) {
    this.#steps = new LeasedSteps({
      leases: options.leases,
      name: "purges",
      pending: () => this.#pending(),
      step: (agentId) => this.#step(agentId),
    });
  }

  /**
   * Accepts the purge of all that an agent has sent until now; run() does it. A repetition begins
   * anew, with what was sent since.
   * @throws RelayError `invalid_json` for an agent that is not banned
   */
  async begin({ id, handle }: Identity): Promise<void> {
    const key = purgeKey(id);
    await this.options.commits.submit<PurgeRecord>({
      records: [outKey(id), key],
      sizeBytes: 1_000,
      plan(turn) {
        const out = turn.record<OutRecord>(outKey(id))!;
        if (!out.banned) {
          throw invalidJson("only what a banned agent sent is purged: ban it first");
        }
        // The agent is banned: it has no message above its head, and all its retained bytes are
        // freed.
        const beforeId = out.head + 1;
        const { attempt } = turn;
        const { retained } = out;
        const purge: PurgeRecord = {
          v: 1,
          attempt,
          handle,
          beforeId,
          nextBeforeId: beforeId,
          retained,
        };
        turn.putRecord(key, purge);
        turn.set(purgingKey(id), 1);
        turn.set(PURGE_MARK, attempt);
        return purge;
      },
      committed: ({ beforeId }) => this.options.recent.purge(id, beforeId),
    });
  }

  /** Works until no purge is left, or another process works. */
  run(): Promise<void> {
    return this.#steps.run();
  }

  /** Ends after the step under way; the next process goes on from there. */
  close(): Promise<void> {
    return this.#steps.close();
  }

  async #pending(): Promise<number[]> {
    const rows = await this.options.store.list({ prefix: PURGING_PREFIX });
    return rows.map(({ key }) => key[1] as number);
  }

  /** One step of an agent's purge. @returns whether there may be more to do */
  async #step(agentId: number): Promise<boolean> {
    const { store, commits, retentionMs, log } = this.options;
    const { messagesAStep = MESSAGES_A_STEP } = this.options;
    // Read first: what is read from here on is true until another step is made.
    const [stepRow, purgeRow] = await store.getMany<[unknown, PurgeRecord]>([
      LAST_SWEEP_STEP,
      purgeKey(agentId),
    ]);
    const purge = purgeRow.value;
    if (purge === null || purge.nextBeforeId === null) {
      // It ended meanwhile. A row without its purge must not keep the work going for ever.
      await store.transact(async (transaction) => {
        const { value: now } = await transaction.get<PurgeRecord>(purgeKey(agentId));
        if (now === null || now.nextBeforeId === null) transaction.delete(purgingKey(agentId));
      });
      return false;
    }
    const doomed = await listDoomed(store, agentId, purge.nextBeforeId, messagesAStep);
    const correction = await takeOffFeed(store, doomed.messages);
    const lastId = correction.lastId ?? doomed.messages.at(-1)?.id;
    const going = doomed.messages.filter(({ id }) => id >= lastId!);
    const ends = !doomed.more && going.length === doomed.messages.length;
    const keys = going.flatMap((message) => message.keys);
    const key = purgeKey(agentId);
    try {
      await commits.submit<Swept>({
        records: [LAST_SWEEP_STEP, key, ...(ends ? [outKey(agentId)] : [])],
        sizeBytes: 30 * keys.length + correctionSizeBytes(correction),
        plan(turn) {
          turn.requireVersion(key, purgeRow.versionstamp);
          const { attempt } = turn;
          if (!ends) turn.putRecord(key, { ...purge, attempt, nextBeforeId: lastId! });
          else {
            const out = turn.record<OutRecord>(outKey(agentId))!;
            const retained = releaseBytes(out.retained, purge.retained, { retentionMs });
            turn.putRecord(outKey(agentId), { ...out, retained });
            // It is kept for as long as a row of these messages could be.
            const done: PurgeRecord = { ...purge, attempt, nextBeforeId: null, retained: [] };
            turn.putRecord(key, done, retentionMs + EXPIRY_MARGIN_MS);
            turn.delete(purgingKey(agentId));
          }
          for (const row of keys) turn.delete(row);
          return stageCorrection(turn, correction, stepRow.versionstamp, retentionMs);
        },
      });
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
      return true; // another step came in between: look again
    }
    if (ends) log("purge_ended", { handle: purge.handle });
    return !ends;
  }
}
