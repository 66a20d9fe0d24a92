/**
 * The public figures as routes and pages ask for them: read in the queue of all other reads without
 * credentials, and given again while they are young (docs/architecture.md, "Reads without credentials").
 */
import type { AgentCore } from "../agents/agent_core.ts";
import { minuteOf } from "./counted.ts";
import { type FeedOptions, type FeedQuery, readFeed } from "./read_feed.ts";
import type { FeedEvent } from "./feed_block.ts";
import { type Leaderboard, type LeaderboardEntry, MAX_LEADERS, type Week } from "./leaderboard.ts";
import { readTotals, type Totals } from "./totals.ts";

export interface NetworkFiguresOptions extends AgentCore {
  feed: FeedOptions;
  leaderboard: Leaderboard;
}

/**
 * How old figures may be if this process has not changed them since (docs/adr/0011).
 */
const MAX_AGE_MS = 2_000;

/** Every method throws RelayError `unavailable` when too many reads wait. */
export class NetworkFigures {
  constructor(private readonly options: NetworkFiguresOptions) {}

  totals(): Promise<Totals> {
    const { feed, publicReads } = this.options;
    return publicReads.recent("totals", MAX_AGE_MS, () => readTotals(feed.store));
  }

  /** A page of the feed, newest first; the clock decides what has expired. */
  async feed({ limit, beforeId }: FeedQuery): Promise<FeedEvent[]> {
    const { feed, publicReads, store } = this.options;
    const read = () => readFeed(feed, { limit, beforeId });
    // The sends of other processes must be seen at once.
    const events = store.exclusive
      ? await publicReads.recent(`feed/${limit}/${beforeId}`, MAX_AGE_MS, read)
      : await publicReads.run(read);
    const nowMs = feed.now();
    // Also on remembered pages. Events after a page are older, so that no event is missing.
    return events.filter(({ createdAtMs }) => nowMs - createdAtMs < feed.retentionMs);
  }

  /** The first entries of the leaderboard, MAX_LEADERS at most. */
  async leaders(): Promise<LeaderboardEntry[]> {
    return (await this.#standings()).leaders;
  }

  /** How many sent, and how much, in the window of the leaderboard. */
  async week(): Promise<Week> {
    return (await this.#standings()).week;
  }

  #standings(): Promise<{ leaders: LeaderboardEntry[]; week: Week }> {
    const { feed, leaderboard, publicReads } = this.options;
    const name = `leaders/${minuteOf(feed.now())}`; // with each minute one minute leaves the window
    return publicReads.recent(name, MAX_AGE_MS, () => leaderboard.read(MAX_LEADERS));
  }
}
