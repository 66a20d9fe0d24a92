/** GET /v1/stats, /v1/feed and /v1/leaderboard (specification, 4.1): public figures, metadata only. */
import { answerJson } from "../http/answer.ts";
import { integer, readQuery } from "../http/query.ts";
import type { Route } from "../http/route.ts";
import type { PublicReads } from "../storage/public_reads.ts";
import { timestamp } from "../timestamp.ts";
import { MAX_ID } from "../max_id.ts";
import { pageLimit } from "../http/page_limit.ts";
import { minuteOf, WINDOW_MINUTES } from "./counted.ts";
import { type FeedOptions, readFeed } from "./feed.ts";
import { type Leaderboard, MAX_LEADERS } from "./leaderboard.ts";
import { readTotals } from "./totals.ts";

const MINUTES_A_DAY = 24 * 60;
const FEED_QUERY = { limit: pageLimit(), before_id: integer(1, MAX_ID, undefined) };
const LEADERBOARD_QUERY = { limit: pageLimit({ default: 20, max: MAX_LEADERS }) };

export interface NetworkServices {
  feed: FeedOptions;
  leaderboard: Leaderboard;
  publicReads: PublicReads;
  /** Whether this process alone writes the store. */
  exclusive: boolean;
}

/**
 * How old figures may be if this process has not changed them since (decisions, "Network figures").
 */
const MAX_AGE_MS = 2_000;

export function networkRoutes(services: NetworkServices): Route[] {
  const { feed, leaderboard, publicReads, exclusive } = services;
  return [
    {
      method: "GET",
      path: "/v1/stats",
      async handle() {
        const read = () => readTotals(feed.kv);
        const { messages, agents } = await publicReads.recent("totals", MAX_AGE_MS, read);
        return answerJson({ total_messages: messages, total_agents: agents });
      },
    },
    {
      method: "GET",
      path: "/v1/feed",
      async handle(c) {
        const { limit, before_id } = readQuery(c.get("query"), FEED_QUERY);
        const read = () => readFeed(feed, { limit, beforeId: before_id });
        // The sends of other processes must be seen at once.
        const events = exclusive
          ? await publicReads.recent(`feed/${limit}/${before_id}`, MAX_AGE_MS, read)
          : await publicReads.run(read);
        const nowMs = feed.now();
        // The clock decides what has expired, also on remembered pages. Events after a page are
        // older, so that no event is missing.
        const kept = events.filter(({ createdAtMs }) => nowMs - createdAtMs < feed.retentionMs);
        return answerJson({
          events: kept.map((event) => ({
            id: event.id,
            from_handle: event.senderHandle,
            to_handle: event.recipientHandle,
            created_at: timestamp(event.createdAtMs),
          })),
        });
      },
    },
    {
      method: "GET",
      path: "/v1/leaderboard",
      async handle(c) {
        const { limit } = readQuery(c.get("query"), LEADERBOARD_QUERY);
        const read = () => leaderboard.top(MAX_LEADERS);
        const name = `leaders/${minuteOf(feed.now())}`; // with each minute one minute leaves the window
        const leaders = await publicReads.recent(name, MAX_AGE_MS, read);
        const agents = leaders.slice(0, limit);
        return answerJson({ window_days: WINDOW_MINUTES / MINUTES_A_DAY, agents });
      },
    },
  ];
}
