/**
 * Takes events off the feed, or puts them back, in a commit that was prepared by reading. Such
 * steps run one after the other, whichever sweep they belong to. Each checks and writes LAST_SWEEP_STEP,
 * so that what it has read of the feed is still true when it commits.
 */
import type { Rows } from "../storage/rows.ts";
import { defineRecord } from "../storage/record_key.ts";
import type { Turn } from "../storage/group_commit.ts";
import { EXPIRY_MARGIN_MS } from "../storage/store.ts";
import { BlockFinder } from "./block_finder.ts";
import { firstCountedMinute } from "./counted.ts";
import { encodeBlock, type FeedEvent, feedKey, newestSentMs } from "./feed_block.ts";
import { countOf, type Swept } from "./record_figures.ts";
import type { Count } from "./tally_rows.ts";

/** Written by every step that corrects the feed; read it before anything else. */
interface SweepStep {
  v: 1;
  attempt: string;
}

export const LAST_SWEEP_STEP = defineRecord<SweepStep>(["sweep-turn", 0], 0)();

/** The greatest size of one step, so that it fits a commit. */
export const MAX_CHANGED_EVENTS = 3_000;
const EVENT_BYTES = 120;
const BLOCK_BYTES = 100;

export interface FeedCorrection {
  /** Blocks as they are to be written; an empty one is to be deleted. */
  blocks: { id: number; events: FeedEvent[] }[];
  /** What the leaderboard gains or loses. */
  moved: Count[];
  /** The last message that found room; undefined when all did. */
  lastId: number | undefined;
}

/** Prepares to take the events of messages off the feed, as far as the feed has them. */
export async function takeOffFeed(
  store: Rows,
  messages: readonly { id: number }[],
): Promise<FeedCorrection> {
  const finder = new BlockFinder(store);
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

/** About how many bytes a correction takes in memory and in its commit. */
export function correctionSizeBytes({ blocks, moved }: FeedCorrection): number {
  const events = blocks.reduce((sum, block) => sum + block.events.length, 0);
  return EVENT_BYTES * (events + moved.length) + BLOCK_BYTES * blocks.length;
}

/**
 * Writes a correction.
 * @param turn of a job that names LAST_SWEEP_STEP
 * @param readVersion versionstamp that LAST_SWEEP_STEP had before the correction was prepared
 * @param retentionMs life of a message and of its event
 * @returns the result of the job, from which the leaderboard is updated
 * @throws Outdated when another step committed in between
 */
export function stageCorrection(
  turn: Turn,
  { blocks, moved }: FeedCorrection,
  readVersion: string | null,
  retentionMs: number,
): Swept {
  turn.requireVersion(LAST_SWEEP_STEP, readVersion);
  turn.putRecord(LAST_SWEEP_STEP, { v: 1, attempt: turn.attempt });
  for (const { id, events } of blocks) {
    if (events.length === 0) turn.delete(feedKey(id));
    else {
      const leftMs = newestSentMs(events) + retentionMs - turn.nowMs;
      turn.set(feedKey(id), encodeBlock(events), leftMs + EXPIRY_MARGIN_MS);
    }
  }
  const first = firstCountedMinute(turn.nowMs);
  return { kind: "swept", corrections: moved.filter(({ minute }) => minute >= first) };
}
