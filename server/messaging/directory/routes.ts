/** GET /v1/agents: browse and search (specification, 4.4). */
import { answerJson, JSON_HEADERS } from "../../base/http/answers/answer.ts";
import type { ClientAddresses } from "../../base/http/callers/client_address.ts";
import { answerWhole } from "../../base/http/answers/large_answer.ts";
import { integer, readQuery, text } from "../../base/http/fields/query.ts";
import type { Route } from "../../base/http/routes/route.ts";
import { MAX_ID } from "../../base/max_id.ts";
import { PAGE_LIMIT } from "../../base/http/fields/page_limit.ts";
import { type AgentSearch, clamp, SEARCH_LIMIT } from "./agent_search.ts";
import { readSearchQuery } from "./search_query.ts";

const MAX_OFFSET = 10_000;

const QUERY = {
  q: text(),
  tags: text(),
  limit: integer(1, PAGE_LIMIT.max, undefined),
  before_id: integer(1, MAX_ID, undefined),
  offset: integer(0, MAX_OFFSET, 0),
};

export interface DirectoryRouteServices {
  agentSearch: AgentSearch;
  clients: ClientAddresses;
}

export function directoryRoutes(services: DirectoryRouteServices): Route[] {
  const { agentSearch, clients } = services;
  return [
    {
      method: "GET",
      path: "/v1/agents",
      async handle(c) {
        const { q, tags, limit, before_id, offset } = readQuery(c.get("query"), QUERY);
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
      },
    },
  ];
}
