/**
 * Corrects the network's figures after a ban or unban, step by step. A sweep walks the mailbox of
 * its agent, newest message first. It takes each event off the feed or puts it back.
 *
 * What keeps it correct, whichever process works and whenever it stops:
 * - An event is on the feed exactly while it is counted: each step changes both in one commit.
 * - Steps of all sweeps run one after the other (feed_correction.ts). What a step has read of the feed and
 *   of bans is therefore still true when it commits.
 * - Each step checks and updates its own sweep record. A later ban or unban replaces the record,
 *   and the former sweep cannot go on.
 * - An event comes back only when neither side is banned. A later unban of the other side walks it
 *   again.
 */
import type { AgentCore } from "../agents/agent_core.ts";
import { inKey, type InRecord } from "../mailboxes/agent_mailboxes.ts";
import { isPurged, purgeKey, type PurgeRecord } from "../messages/rows/purge_record.ts";
import { LeasedSteps } from "../../base/storage/leases/leased_steps.ts";
import { feedEventOf } from "./feed_block.ts";
import {
  correctFeed,
  type FeedCorrection,
  prepareCorrection,
  takeOffFeed,
} from "./feed_correction.ts";
import { type SweptMessage, walkMailbox } from "./mailbox_walk.ts";
import { countOf } from "./record_figures.ts";
import { sweepKey } from "./sweep_record.ts";

/** Bound of one step, so that it fits a commit. */
const MESSAGES_A_STEP = 200;

export interface SweepOptions
  extends Pick<AgentCore, "store" | "records" | "commits" | "leases" | "identities"> {
  /** Life of a message and of its feed event. */
  retentionMs: number;
  messagesAStep?: number;
}

/**
 * The work of all sweeps: run() works until no sweep is left, or another process works, and close() ends
 * after the step under way.
 */
export function createSweeps(options: SweepOptions): LeasedSteps<number> {
  const { store, leases } = options;
  return new LeasedSteps({
    leases,
    name: "sweeps",
    async pending() {
      const rows = await store.list({ prefix: sweepKey.under() });
      return rows.map(({ key }) => key[1] as number);
    },
    step: (agentId) => makeStep(options, agentId),
  });
}

/** One step of an agent's sweep. @returns whether there may be more to do */
async function makeStep(options: SweepOptions, agentId: number): Promise<boolean> {
  const { store, records, commits, retentionMs, messagesAStep = MESSAGES_A_STEP } = options;
  const key = sweepKey(agentId);
  const step = await correctFeed(commits, retentionMs, async (reads) => {
    const sweep = await reads.get(key);
    if (sweep === null) return null;
    const purge = await records.read<PurgeRecord>(purgeKey(agentId));
    const { messages, next } = await walkMailbox(store, agentId, sweep, messagesAStep);
    // A poll at that moment may have written the row of a purged message again.
    const there = messages.filter(({ senderId, id }) =>
      senderId !== agentId || !isPurged(purge, id)
    );
    const correction = sweep.kind === "hide"
      ? await takeOffFeed(store, messages)
      : await putOnFeed(options, there);
    const { lastId } = correction;
    const moreOfBox = lastId !== undefined ? { ...sweep, beforeId: lastId } : next;
    return {
      correction,
      stage: (transaction) => transaction.putRecord(key, moreOfBox),
      more: moreOfBox !== null,
    };
  });
  return step?.more ?? false;
}

async function putOnFeed(
  { store, records, identities, retentionMs }: SweepOptions,
  messages: readonly SweptMessage[],
): Promise<FeedCorrection> {
  const agentIds = [...new Set(messages.flatMap((one) => [one.senderId, one.recipientId]))];
  const inboxes = await records.readMany<InRecord>(agentIds.map(inKey));
  const banned = new Set(agentIds.filter((_, i) => inboxes[i]?.banned));
  return await prepareCorrection(store, messages, async (finder, message) => {
    const { id, createdAtMs, senderId, recipientId } = message;
    if (store.now() - createdAtMs >= retentionMs) return null;
    if (banned.has(senderId) || banned.has(recipientId)) return null;
    const [sender, recipient] = await Promise.all([
      identities.byId(senderId),
      identities.byId(recipientId),
    ]);
    const event = feedEventOf({ id, createdAtMs, sender, recipient });
    return event !== null && await finder.insert(event) ? countOf(event) : null;
  });
}
