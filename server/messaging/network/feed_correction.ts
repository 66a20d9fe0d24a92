/**
 * Takes events off the feed, or puts them back. Such steps run one after the other, whichever sweep
 * they belong to: each checks and writes LAST_SWEEP_STEP, so that what it has read of the feed is
 * still true when it commits.
 */
import type { Rows } from "../../base/storage/rows/rows.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import type { GroupCommit, Reads, Transaction } from "../../base/storage/commits/group_commit.ts";
import { EXPIRY_MARGIN_MS } from "../../base/storage/rows/store.ts";
import { BlockFinder } from "./block_finder.ts";
import { firstCountedMinute } from "./counted.ts";
import { encodeBlock, type FeedEvent, feedKey, newestSentMs } from "./feed_block.ts";
import { countOf, type Swept } from "./record_figures.ts";
import type { Count } from "./tally_rows.ts";

/** Written by every step that corrects the feed. */
const LAST_SWEEP_STEP = defineRecord<{ v: 1 }>(["sweep-turn", 0], 0, {
  holds: "written by every step of every sweep, a purge's too: makes them serial",
})();

/** The greatest size of one step, so that it fits a commit. */
const MAX_CHANGED_EVENTS = 3_000;

export interface FeedCorrection {
  /** Blocks as they are to be written; an empty one is to be deleted. */
  blocks: { id: number; events: FeedEvent[] }[];
  /** What the leaderboard gains or loses. */
  moved: Count[];
  /** The last message that found room; undefined when all did. */
  lastId: number | undefined;
}

/** One commit of a sweep. */
export interface FeedStep {
  correction?: FeedCorrection;
  /** Stages how far the sweep has come, and whatever else the step changes. */
  stage(transaction: Transaction): void;
  /** Whether more may be left to do. */
  more: boolean;
}

/**
 * Makes a step.
 * @param retentionMs life of a message and of its event
 * @param prepare reads what the step rests on; null when there is nothing to do. It is called again when
 * another step was faster
 */
export async function correctFeed<Step extends FeedStep>(
  commits: GroupCommit,
  retentionMs: number,
  prepare: (reads: Reads) => Promise<Step | null>,
): Promise<Step | null> {
  const swept = await commits.submit<(Swept & { step: Step }) | null, Step | null>({
    async prepare(reads) {
      await reads.get(LAST_SWEEP_STEP); // first: what is read from here on is true until another step
      return await prepare(reads);
    },
    plan(transaction, step) {
      if (step === null) return null;
      const { blocks, moved } = step.correction ?? { blocks: [], moved: [] };
      step.stage(transaction);
      transaction.putRecord(LAST_SWEEP_STEP, { v: 1 });
      for (const { id, events } of blocks) {
        if (events.length === 0) transaction.delete(feedKey(id));
        else {
          const leftMs = newestSentMs(events) + retentionMs - transaction.nowMs;
          transaction.set(feedKey(id), encodeBlock(events), leftMs + EXPIRY_MARGIN_MS);
        }
      }
      const first = firstCountedMinute(transaction.nowMs);
      const corrections = moved.filter(({ minute }) => minute >= first);
      return { kind: "swept", corrections, step };
    },
  });
  return swept?.step ?? null;
}

/** Prepares to take off the feed the events of messages that it still has. */
export function takeOffFeed(
  store: Rows,
  messages: readonly { id: number }[],
): Promise<FeedCorrection> {
  return prepareCorrection(store, messages, async (finder, { id }) => {
    const event = await finder.remove(id);
    return event === null ? null : { ...countOf(event), count: -1 };
  });
}

/**
 * Prepares what becomes of the events of messages, of as many as fit a commit.
 * @param change of the event of one message. @returns what the leaderboard gains or loses by it, or null
 */
export async function prepareCorrection<Message extends { id: number }>(
  store: Rows,
  messages: readonly Message[],
  change: (finder: BlockFinder, message: Message) => Promise<Count | null>,
): Promise<FeedCorrection> {
  const finder = new BlockFinder(store);
  const moved: Count[] = [];
  let lastId: number | undefined;
  await finder.prepare(messages.map(({ id }) => id));
  for (const message of messages) {
    const count = await change(finder, message);
    if (count !== null) moved.push(count);
    if (finder.changedEvents <= MAX_CHANGED_EVENTS) continue;
    lastId = message.id;
    break;
  }
  return { blocks: finder.changed(), moved, lastId };
}
