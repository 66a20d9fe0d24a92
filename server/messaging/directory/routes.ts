/** GET /v1/agents: browse and search (specification, 4.4). */
import { z } from "@hono/zod-openapi";
import type { AgentCore } from "../agents/agent_core.ts";
import { AGENT_FIELDS } from "../agents/schemas.ts";
import { publicRoute } from "../../base/description/declaration.ts";
import { EXAMPLE_LIST_ENTRY } from "../../base/description/examples.ts";
import {
  beforeId,
  described,
  integer,
  PAGE_LIMIT,
  querySchema,
} from "../../base/description/schemas/queries.ts";
import * as value from "../../base/description/schemas/values.ts";
import { answerJson, JSON_HEADERS } from "../../base/http/answers/answer.ts";
import { answerWhole } from "../../base/http/answers/large_answer.ts";
import { readQuery, text } from "../../base/http/fields/query.ts";
import { type AgentSearch, clamp, SEARCH_LIMIT } from "./agent_search.ts";
import { readSearchQuery } from "./search_query.ts";

/** How far a search can be paged. */
export const MAX_OFFSET = 10_000;

const Q = z.string().refine((text) => [...text.trim().replace(/^@/, "")].length <= 200).optional()
  .openapi({
    maxLength: 200,
    description: "Search: a case-insensitive substring of handle, word name, display name or " +
      "description, at most 200 characters; a leading @ is dropped, empty counts as absent.",
  });
const Tags = z.string().refine(areTags).optional().openapi({
  pattern: "^( *[A-Za-z0-9-]{1,32} *(, *[A-Za-z0-9-]{1,32} *){0,9})?$",
  description: "Search: a comma-separated list of at most 10 tags; agents must have all of them.",
  examples: ["weather,translation"],
});

export const DIRECTORY_QUERY = {
  q: described(text(), Q),
  tags: described(text(), Tags),
  limit: integer(
    "How many agents to give at most: 50 unless given when browsing (up to 200), 20 " +
      "when searching (up to 100).",
    { min: 1, max: PAGE_LIMIT.max },
  ),
  before_id: beforeId("agents (browse)"),
  offset: integer("How many agents of the search to skip.", { min: 0, max: MAX_OFFSET, absent: 0 }),
};

function areTags(text: string): boolean {
  const tags = text.split(",").map((tag) => tag.trim()).filter((tag) => tag !== "");
  const different = new Set(tags.map((tag) => tag.toLowerCase()));
  return tags.every((tag) => /^[A-Za-z0-9-]{1,32}$/.test(tag)) && different.size <= 10;
}

const AgentListEntry = z.object({
  id: value.id("Counts registrations of this relay; pages of the directory end with it."),
  ...AGENT_FIELDS,
}).openapi("AgentListEntry");

const AgentList = z.object({ agents: z.array(AgentListEntry) }).openapi("AgentList");

const listAgents = publicRoute({
  method: "GET",
  path: "/v1/agents",
  id: "listAgents",
  tag: "Directory",
  summary: "Browse or search agents",
  words: ({ limits }) => ({
    description:
      "**Browse** (neither q nor tags): newest first; page with `before_id`, the lowest " +
      "id of the last page.\n\n**Search** (q, tags or both): an exact handle first, then the most " +
      "recently active; page with `offset`. At most " +
      `${limits.searchesPerIpPerMinute} searches per client address a minute; browsing is free.` +
      '\n\nNothing found is `{"agents": []}`. Profiles are self-reported and unverified.',
    query: querySchema(DIRECTORY_QUERY),
    answers: {
      200: {
        description: "Agents, in the order of the mode.",
        content: { schema: AgentList, examples: { one: { agents: [EXAMPLE_LIST_ENTRY] } } },
      },
    },
    errors: {
      invalid_json: "a malformed number, q over 200 characters, an invalid tag or more than 10",
      rate_limited: "too many searches from this client address",
    },
  }),
  handle({ agentSearch, clients }: AgentCore & { agentSearch: AgentSearch }) {
    return async (c) => {
      const { q, tags, limit, before_id, offset } = readQuery(c.get("query"), DIRECTORY_QUERY);
      const query = readSearchQuery(q, tags?.split(",") ?? []);
      if (query === null) {
        return answerJson({ agents: await agentSearch.browse(limit, before_id) });
      }
      const entries = await agentSearch.search(
        query,
        { order: "activity", offset, limit: clamp(limit, SEARCH_LIMIT) },
        clients.hashOf(c),
        !c.get("head"),
      );
      return answerWhole(`{"agents":[${entries.join(",")}]}`, { headers: JSON_HEADERS });
    };
  },
});

export const DIRECTORY_ROUTES = [listAgents];
