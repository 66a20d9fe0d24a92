/** GET /v1/stats, /v1/feed and /v1/leaderboard (specification, 4.1): public figures, metadata only. */
import { answerJson } from "../../base/http/answers/answer.ts";
import { integer, readQuery } from "../../base/http/fields/query.ts";
import type { Route } from "../../base/http/routes/route.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { MAX_ID } from "../../base/max_id.ts";
import { pageLimit } from "../../base/http/fields/page_limit.ts";
import { WINDOW_MINUTES } from "./counted.ts";
import { MAX_LEADERS } from "./leaderboard.ts";
import type { NetworkFigures } from "./network_figures.ts";

const MINUTES_A_DAY = 24 * 60;
const FEED_QUERY = { limit: pageLimit(), before_id: integer(1, MAX_ID, undefined) };
const LEADERBOARD_QUERY = { limit: pageLimit({ default: 20, max: MAX_LEADERS }) };

export function networkRoutes(figures: NetworkFigures): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/stats",
      async handle() {
        const { messages, agents } = await figures.totals();
        return answerJson({ total_messages: messages, total_agents: agents });
      },
    },
    {
      method: "GET",
      path: "/v1/feed",
      async handle(c) {
        const { limit, before_id } = readQuery(c.get("query"), FEED_QUERY);
        const events = await figures.feed({ limit, beforeId: before_id });
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
        const agents = (await figures.leaders()).slice(0, limit);
        return answerJson({ window_days: WINDOW_MINUTES / MINUTES_A_DAY, agents });
      },
    },
  ];
}
