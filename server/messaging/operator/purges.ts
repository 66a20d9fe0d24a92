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
import type { Identity } from "../agents/agent_records.ts";
import type { AgentCore } from "../agents/agent_core.ts";
import type { Log } from "../../base/log.ts";
import { invalidJson } from "../../base/errors.ts";
import { outKey } from "../mailboxes/agent_mailboxes.ts";
import { releaseBytes } from "../mailboxes/retained_bytes.ts";
import {
  PURGE_MARK,
  purgeKey,
  type PurgeRecord,
  purgingKey,
} from "../messages/rows/purge_record.ts";
import type { RecentMessages } from "../messages/rows/recent_messages.ts";
import { correctFeed, takeOffFeed } from "../network/feed_correction.ts";
import { LeasedSteps } from "../../base/storage/leases/leased_steps.ts";
import { EXPIRY_MARGIN_MS } from "../../base/storage/rows/store.ts";
import { listDoomed } from "./doomed_messages.ts";

export interface PurgeOptions extends Pick<AgentCore, "store" | "commits" | "leases"> {
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
      pending: async () => {
        const rows = await options.store.list({ prefix: purgingKey.under() });
        return rows.map(({ key }) => key[1] as number);
      },
      step: (agentId) => this.#step(agentId),
    });
  }

  /**
   * Accepts the purge of all that an agent has sent until now; run() does it. A repetition begins
   * again, with what was sent since.
   * @throws RelayError `invalid_json` for an agent that is not banned
   */
  async begin({ id, handle }: Identity): Promise<void> {
    await this.options.commits.submit<PurgeRecord>({
      plan(transaction) {
        const out = transaction.record(outKey(id))!;
        if (!out.banned) {
          throw invalidJson("only what a banned agent sent is purged: ban it first");
        }
        // The agent is banned: it has no message above its head, and all its retained bytes are
        // freed.
        const beforeId = out.head + 1;
        const { retained } = out;
        const purge: PurgeRecord = { v: 1, handle, beforeId, nextBeforeId: beforeId, retained };
        transaction.putRecord(purgeKey(id), purge);
        transaction.set(purgingKey(id), 1);
        transaction.set(PURGE_MARK, 1);
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

  /** One step of an agent's purge. @returns whether there may be more to do */
  async #step(agentId: number): Promise<boolean> {
    const { store, commits, retentionMs, log, messagesAStep = MESSAGES_A_STEP } = this.options;
    const key = purgeKey(agentId);
    const step = await correctFeed(commits, retentionMs, async (reads) => {
      const purge = await reads.get(key);
      if (purge === null || purge.nextBeforeId === null) {
        // It ended meanwhile. A row without its purge must not keep the work going for ever.
        return { more: false, stage: (transaction) => transaction.delete(purgingKey(agentId)) };
      }
      const doomed = await listDoomed(store, agentId, purge.nextBeforeId, messagesAStep);
      const correction = await takeOffFeed(store, doomed.messages);
      const lastId = correction.lastId ?? doomed.messages.at(-1)?.id;
      const going = doomed.messages.filter(({ id }) => id >= lastId!);
      const more = doomed.more || going.length < doomed.messages.length;
      return {
        correction,
        more,
        ended: more ? undefined : purge.handle,
        stage(transaction) {
          for (const { keys } of going) for (const row of keys) transaction.delete(row);
          if (more) return transaction.putRecord(key, { ...purge, nextBeforeId: lastId! });
          const out = transaction.record(outKey(agentId))!;
          const retained = releaseBytes(out.retained, purge.retained, { retentionMs });
          transaction.putRecord(outKey(agentId), { ...out, retained });
          // It is kept for as long as a row of these messages could be.
          const done = { ...purge, nextBeforeId: null, retained: [] };
          transaction.putRecord(key, done, retentionMs + EXPIRY_MARGIN_MS);
          transaction.delete(purgingKey(agentId));
        },
      };
    });
    if (step?.ended !== undefined) log("purge_ended", { handle: step.ended });
    return step?.more ?? false;
  }
}
