/** GET /agents: the directory as a page. */
import type { Context } from "hono";
import type { AgentListEntry } from "../../messaging/directory/agent_search.ts";
import { readSearchQuery, type SearchQuery } from "../../messaging/directory/search_query.ts";
import { fixedAnswers } from "../../base/description/fixed_answers.ts";
import { querySchema } from "../../base/description/schemas/queries.ts";
import { DIRECTORY_QUERY, MAX_OFFSET } from "../../messaging/directory/routes.ts";
import { RelayError } from "../../base/errors.ts";
import { refusalHeaders } from "../../base/http/answers/answer.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { readQuery } from "../../base/http/fields/query.ts";
import type { HttpEnv } from "../../base/http/routes/route.ts";
import { answerFixedPage, answerPage, fixPage } from "../../base/pages/answer_page.ts";
import { LIVE, liveHeaders } from "../../base/pages/live_bar.ts";
import { PAGE, pageRoute } from "../../base/pages/page_route.ts";
import { type AgentsFacts, agentsPage, refusedSearchPage } from "./agents_page.ts";
import type { SearchWords } from "./agent_parts.ts";
import type { SiteServices } from "./site_services.ts";

const { limit: _, ...WITHOUT_LIMIT } = DIRECTORY_QUERY;
const QUERY = { ...WITHOUT_LIMIT, live: LIVE };
const AGENTS = 50;

export const readAgentsPage = pageRoute({
  path: "/agents",
  id: "readAgentsPage",
  summary: "The directory as a page",
  words: ({ limits }) => ({
    description: "All agents, newest first, or those that match a search, 50 a page. A search " +
      "counts as one of `GET /v1/agents`.",
    query: querySchema(QUERY),
    answers: fixedAnswers("The page.", PAGE),
    errors: {
      rate_limited:
        `over ${limits.searchesPerIpPerMinute} answered searches a minute from one address`,
    },
  }),
  handle: (services: SiteServices) => async (c) => {
    const { pages, furtherPages } = services;
    const { q = "", tags = "", before_id, offset, live } = readQuery(c.get("query"), QUERY);
    const words = { q, tags };
    try {
      const query = readSearchQuery(q, tags.split(","));
      if (query !== null) return await searchPage(services, c, words, query, offset);
    } catch (refusal) {
      if (!(refusal instanceof RelayError) || refusal.status === 500) throw refusal;
      if (!namesHtml(c.req.raw)) throw refusal;
      const page = await refusedSearchPage(words, wordsOf(refusal), refusal.code);
      return answerPage(page, { status: refusal.status, headers: refusalHeaders(refusal) });
    }
    if (before_id !== undefined) {
      const page = await furtherPages.get(
        `/agents/${before_id}`,
        () => browsePage(services, before_id, undefined),
      );
      return answerFixedPage(c.req.raw, page, {}, false);
    }
    const page = await pages.get(`/agents ${live}`, () => browsePage(services, undefined, live));
    return answerFixedPage(c.req.raw, page, liveHeaders(live));
  },
});

async function browsePage(
  { agentSearch }: SiteServices,
  beforeId: number | undefined,
  period: AgentsFacts["period"],
) {
  // One agent more than a page has tells whether there are older ones.
  const agents = await agentSearch.browse(AGENTS + 1, beforeId);
  return await agentsPage({
    words: { q: "", tags: "" },
    agents: agents.slice(0, AGENTS),
    older: agents.length > AGENTS ? `/agents?before_id=${agents[AGENTS - 1]!.id}` : undefined,
    isBeginning: beforeId === undefined,
    period,
  });
}

async function searchPage(
  { agentSearch, clients }: SiteServices,
  c: Context<HttpEnv>,
  words: SearchWords,
  query: SearchQuery,
  offset: number,
): Promise<Response> {
  const found = await agentSearch.search(
    query,
    { order: "newest", offset, limit: AGENTS + 1 },
    clients.hashOf(c),
    !c.get("head"),
  );
  const agents = found.slice(0, AGENTS).map((json): AgentListEntry => JSON.parse(json));
  const nextOffset = offset + AGENTS;
  const hasOlder = found.length > AGENTS && nextOffset <= MAX_OFFSET;
  const older = `/agents?${new URLSearchParams({ ...words, offset: String(nextOffset) })}`;
  const page = await agentsPage({
    words,
    agents,
    older: hasOlder ? older : undefined,
    isBeginning: false,
    period: undefined,
  });
  return answerFixedPage(c.req.raw, await fixPage(page), {}, false);
}

/** What a person is told: limits tell programs of fields that pages do not have. */
function wordsOf({ code, message, retryAfterMs = 1 }: RelayError): string {
  if (code !== "rate_limited") return message;
  return "Too many searches from your address within a minute. " +
    `Search again in ${
      Math.ceil(retryAfterMs / 1_000)
    } s: what you looked for is still in the form.`;
}
