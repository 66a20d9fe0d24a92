/** GET /v1/stats, /v1/feed and /v1/leaderboard (specification, 4.1): public figures, metadata only. */
import { answerJson } from "../http/answer.ts";
import { integer, readQuery } from "../http/query.ts";
import type { Route } from "../http/route.ts";
import { timestamp } from "../timestamp.ts";
import { WINDOW_MINUTES } from "./counted.ts";
import { type FeedOptions, readFeed } from "./feed.ts";
import { type Leaderboard, MAX_LEADERS } from "./leaderboard.ts";
import { readTotals } from "./totals.ts";

const MAX_ID = 2 ** 53 - 1;
const MINUTES_A_DAY = 24 * 60;
const FEED_QUERY = { limit: integer(1, 200, 50), before_id: integer(1, MAX_ID, undefined) };
const LEADERBOARD_QUERY = { limit: integer(1, MAX_LEADERS, 20) };

export interface NetworkServices {
  feed: FeedOptions;
  leaderboard: Leaderboard;
}

export function networkRoutes({ feed, leaderboard }: NetworkServices): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/stats",
      async handle() {
        const { messages, agents } = await readTotals(feed.kv);
        return answerJson({ total_messages: messages, total_agents: agents });
      },
    },
    {
      method: "GET",
      path: "/v1/feed",
      async handle(c) {
        const { limit, before_id } = readQuery(c.get("query"), FEED_QUERY);
        const events = await readFeed(feed, { limit, beforeId: before_id });
        return answerJson({
          events: events.map((event) => ({
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
        const agents = await leaderboard.top(limit);
        return answerJson({ window_days: WINDOW_MINUTES / MINUTES_A_DAY, agents });
      },
    },
  ];
}
