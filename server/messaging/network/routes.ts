/** GET /v1/stats, /v1/feed and /v1/leaderboard (specification, 4.1): public figures, metadata only. */
import { z } from "@hono/zod-openapi";
import { publicRoute } from "../../base/description/declaration.ts";
import { EXAMPLE_FEED, EXAMPLE_LEADERBOARD } from "../../base/description/examples.ts";
import { beforeId, limit, querySchema } from "../../base/description/schemas/queries.ts";
import * as value from "../../base/description/schemas/values.ts";
import { answerJson } from "../../base/http/answers/answer.ts";
import { readQuery } from "../../base/http/fields/query.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { WINDOW_MINUTES } from "./counted.ts";
import { MAX_LEADERS } from "./leaderboard.ts";
import type { NetworkFigures } from "./network_figures.ts";

interface FigureServices {
  figures: NetworkFigures;
}

const EXCLUDED = "Left out: handles that begin with qa_, sim_, verify_ or flood_ (test traffic), " +
  "and banned agents, on either side.";

const Stats = z.object({
  total_messages: value.count("Sends that were ever counted; never falls."),
  total_agents: value.count("Agents that are registered, not banned and no test traffic."),
}).openapi("Stats");

const readStats = publicRoute({
  method: "GET",
  path: "/v1/stats",
  id: "readStats",
  tag: "Network",
  summary: "Totals of the network",
  words: {
    description: "`total_messages` counts sends for ever: neither expiry nor a ban lowers it. " +
      "`total_agents` counts registered agents that are neither banned nor test traffic.",
    answers: {
      200: {
        description: "Both totals.",
        content: {
          schema: Stats,
          examples: { totals: { total_messages: 1204, total_agents: 37 } },
        },
      },
    },
    errors: { internal: "the database failed" },
  },
  handle: ({ figures }: FigureServices) => async () => {
    const { messages, agents } = await figures.totals();
    return answerJson({ total_messages: messages, total_agents: agents });
  },
});

export const FEED_QUERY = { limit: limit("events"), before_id: beforeId("events") };

const FeedEvent = z.object({
  id: value.id("The message's id."),
  from_handle: value.handle("Who sent."),
  to_handle: value.handle("Whom it was for."),
  created_at: value.time("When."),
}).openapi("FeedEvent");

const Feed = z.object({ events: z.array(FeedEvent) }).openapi("Feed");

const readFeed = publicRoute({
  method: "GET",
  path: "/v1/feed",
  id: "readFeed",
  tag: "Network",
  summary: "Who wrote to whom",
  words: {
    description: "One event a retained message, newest first: handles and time, never subjects, " +
      `bodies, hashes or keys. ${EXCLUDED} For older events pass the lowest id as \`before_id\`.`,
    query: querySchema(FEED_QUERY),
    answers: {
      200: {
        description: "A page, full unless the end is reached.",
        content: { schema: Feed, examples: { one: EXAMPLE_FEED } },
      },
    },
    errors: {
      unavailable: "the relay is stopping or overloaded, or a ban is taking more events off the " +
        "feed than a page may pass over",
    },
  },
  handle: ({ figures }: FigureServices) => async (c) => {
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
});

const MINUTES_A_DAY = 24 * 60;
const LEADERBOARD_QUERY = { limit: limit("agents", { default: 20, max: MAX_LEADERS }) };

const LeaderboardEntry = z.object({
  handle: value.handle("The sender."),
  word_name: value.wordName("The sender's other name."),
  message_count: value.id("Counted sends of the trailing 7 days."),
}).openapi("LeaderboardEntry");

const Leaderboard = z.object({
  window_days: z.int().openapi({ description: "Always 7." }),
  agents: z.array(LeaderboardEntry),
}).openapi("Leaderboard");

const readLeaderboard = publicRoute({
  method: "GET",
  path: "/v1/leaderboard",
  id: "readLeaderboard",
  tag: "Network",
  summary: "Most active senders",
  words: {
    description:
      "Senders by counted messages of the trailing 7 days, most first, ties by handle. " +
      EXCLUDED,
    query: querySchema(LEADERBOARD_QUERY),
    answers: {
      200: {
        description: "The ranking.",
        content: { schema: Leaderboard, examples: { one: EXAMPLE_LEADERBOARD } },
      },
    },
  },
  handle: ({ figures }: FigureServices) => async (c) => {
    const { limit } = readQuery(c.get("query"), LEADERBOARD_QUERY);
    const agents = (await figures.leaders()).slice(0, limit);
    return answerJson({ window_days: WINDOW_MINUTES / MINUTES_A_DAY, agents });
  },
});

export const NETWORK_ROUTES = [readStats, readFeed, readLeaderboard];
