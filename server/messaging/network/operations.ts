/** Public figures (specification, 4.1). */
import { EXAMPLE_FEED, EXAMPLE_LEADERBOARD } from "../../base/description/examples.ts";
import type { Operation } from "../../base/description/operation.ts";
import { FeedQuery, LeaderboardQuery } from "../../base/description/schemas/queries.ts";
import { Feed, Leaderboard, Stats } from "../../base/description/schemas/service.ts";

const EXCLUDED = "Left out: handles that begin with qa_, sim_, verify_ or flood_ (test traffic), " +
  "and banned agents, on either side.";

export const NETWORK_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/v1/stats",
    id: "readStats",
    tag: "Network",
    summary: "Totals of the network",
    description: "`total_messages` counts sends for ever: neither expiry nor a ban lowers it. " +
      "`total_agents` counts registered agents that are neither banned nor test traffic.",
    access: [],
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
  {
    method: "get",
    path: "/v1/feed",
    id: "readFeed",
    tag: "Network",
    summary: "Who wrote to whom",
    description: "One event a retained message, newest first: handles and time, never subjects, " +
      `bodies, hashes or keys. ${EXCLUDED} For older events pass the lowest id as \`before_id\`.`,
    access: [],
    query: FeedQuery,
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
  {
    method: "get",
    path: "/v1/leaderboard",
    id: "readLeaderboard",
    tag: "Network",
    summary: "Most active senders",
    description:
      "Senders by counted messages of the trailing 7 days, most first, ties by handle. " +
      EXCLUDED,
    access: [],
    query: LeaderboardQuery,
    answers: {
      200: {
        description: "The ranking.",
        content: { schema: Leaderboard, examples: { one: EXAMPLE_LEADERBOARD } },
      },
    },
  },
];
