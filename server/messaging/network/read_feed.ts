/** GET /v1/feed: counted sends, newest first (specification, 2.7, 4.1 and 6). */
import type { Rows } from "../../base/storage/rows/rows.ts";
import { RelayError } from "../../base/errors.ts";
import { lowestIdAt } from "../../base/storage/commits/id_sequence.ts";
import { BLOCK_SPAN, decodeBlock, type FeedBlock, type FeedEvent, feedKey } from "./feed_block.ts";
import { sweepKey, type SweepRecord } from "./sweep_record.ts";

export interface FeedQuery {
  limit: number;
  /** Only events with lower ids. */
  beforeId: number | undefined;
}

export interface FeedOptions {
  store: Rows;
  now: () => number;
  retentionMs: number;
}

/** Blocks of the first read, and the factor that each further read grows by: a page needs few. */
const FIRST_READ = 4;
const READ_GROWTH = 4;
const MAX_READ = 256;
/** Events that a page may skip while a sweep takes them off the feed. */
const MAX_HIDDEN = 50_000;

/**
 * A page of the feed: full unless the end is reached.
 * @throws RelayError `unavailable` while a ban hides more events than a page may skip; this lasts
 * seconds
 */
export async function readFeed(options: FeedOptions, query: FeedQuery): Promise<FeedEvent[]> {
  const { now, retentionMs } = options;
  // Read before the events: a sweep that has ended by now has taken its events off the feed.
  const hidden = await hiddenAgents(options.store);
  const nowMs = now();
  const page: FeedEvent[] = [];
  let passedOver = 0;
  for await (const event of eventsBelow(options, query, nowMs)) {
    if (nowMs - event.createdAtMs >= retentionMs) continue;
    if (hidden.has(event.senderId) || hidden.has(event.recipientId)) {
      if (++passedOver > MAX_HIDDEN) throw stillSweeping();
      continue;
    }
    page.push(event);
    if (page.length === query.limit) break;
  }
  return page;
}

/** Agents that are banned and whose events may still be in the store. */
export async function hiddenAgents(store: Rows): Promise<Set<number>> {
  const sweeps = await store.list<SweepRecord>({ prefix: sweepKey.under() });
  const hiding = sweeps.filter(({ value }) => value.kind === "hide");
  return new Set(hiding.map(({ key }) => key[1] as number));
}

/**
 * Events below an id, newest first. Blocks overlap, so an event waits until no later block can hold
 * a newer one.
 */
async function* eventsBelow(
  { store, retentionMs }: FeedOptions,
  { limit, beforeId = Infinity }: FeedQuery,
  nowMs: number,
): AsyncGenerator<FeedEvent> {
  /** Events above which a later block may still have some, ascending. */
  let waiting: FeedEvent[] = [];
  let endId = beforeId + BLOCK_SPAN;
  const startId = lowestIdAt(nowMs - retentionMs);
  const start = feedKey(startId);
  for (let size = Math.min(FIRST_READ, limit + 1);; size = Math.min(size * READ_GROWTH, MAX_READ)) {
    if (endId <= startId) break;
    const selector = endId === Infinity
      ? { prefix: feedKey.under(), start }
      : { start, end: feedKey(endId) };
    const blocks = await store.list<FeedBlock>(selector, { reverse: true, limit: size });
    for (const { key, value } of blocks) {
      endId = key[1] as number;
      while (waiting.length > 0 && waiting.at(-1)!.id > endId) yield waiting.pop()!;
      const events = decodeBlock(value).filter((event) => event.id < beforeId);
      waiting = waiting.length === 0 ? events : [...waiting, ...events].sort((a, b) => a.id - b.id);
    }
    if (blocks.length < size) break;
  }
  while (waiting.length > 0) yield waiting.pop()!;
}

function stillSweeping(): RelayError {
  return new RelayError(
    "unavailable",
    "a ban is being applied to the feed; ask again after Retry-After",
    { retryAfterMs: 2_000 },
  );
}
