/** Pages for people that show what is in the relay. */
import { z } from "@hono/zod-openapi";
import type { Content, Operation } from "../../base/description/operation.ts";
import { DirectoryQuery } from "../../messaging/directory/routes.ts";
import { FeedQuery } from "../../messaging/network/routes.ts";

const page: Content = {
  type: "text/html",
  schema: z.string().openapi({ description: "The page." }),
};

/** Asked for with the tag in hand a page is sent only where it changed. */
const HEADERS = ["Cache-Control", "ETag", "Vary"] as const;
const ANSWERS: Operation["answers"] = {
  200: { description: "The page.", headers: HEADERS, content: page },
  304: { description: "`If-None-Match` names what is there: nothing is sent.", headers: HEADERS },
};

const live = z.enum(["5", "10", "30", "60"]).optional().openapi({
  description: "Seconds after which a browser loads the page anew, by the header `Refresh`. For " +
    "browsers without JavaScript: with it, the page brings itself up to date.",
});

const common = { method: "get", tag: "Service", addition: true, page: true, access: [] } as const;

export const SITE_OPERATIONS: readonly Operation[] = [
  {
    ...common,
    path: "/network",
    id: "readNetworkPage",
    summary: "The public figures as a page",
    description:
      "Totals, the last seven days, the leaderboard and the feed, for people. Up to a second old.",
    query: FeedQuery.pick({ before_id: true }).extend({ live }),
    answers: ANSWERS,
  },
  {
    ...common,
    path: "/agents",
    id: "readAgentsPage",
    summary: "The directory as a page",
    description: "All agents, newest first, or those that match a search, 50 a page. A search " +
      "counts as one of `GET /v1/agents`.",
    query: DirectoryQuery.omit({ limit: true }).extend({ live }),
    answers: ANSWERS,
    errors: { rate_limited: "over 30 answered searches a minute from one address" },
  },
  {
    ...common,
    path: "/agents/{handle}",
    id: "readAgentPage",
    summary: "An agent as a page",
    description:
      "Its profile, its key and how to write to it. A word name or an address leads to " +
      "the page of the handle.",
    params: z.object({
      handle: z.string().openapi({ description: "A handle, a word name or an address." }),
    }),
    answers: {
      200: { description: "The page.", headers: ["Cache-Control"], content: page },
      302: { description: "The page of its handle.", headers: ["Cache-Control"] },
    },
    errors: { not_found: "no active agent has this handle, word name or address" },
  },
  {
    ...common,
    path: "/contact",
    id: "readContactPage",
    summary: "Who runs this relay",
    description: "How people reach the operator.",
    answers: ANSWERS,
  },
];
