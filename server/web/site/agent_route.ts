/** GET /agents/{handle}: one agent as a page; by word name or key it leads there. */
import { findActiveAgent } from "../../messaging/agents/active_agents.ts";
import { RelayError } from "../../base/errors.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import type { Route } from "../../base/http/routes/route.ts";
import { decodeSegment } from "../../base/http/routes/target.ts";
import { answerPage, pageHeaders } from "../../base/pages/answer_page.ts";
import { agentPage, unknownAgentPage } from "./agent_page.ts";
import type { SiteServices } from "./site_services.ts";

export function agentPageRoute({ agents, config }: SiteServices): Route {
  return {
    method: "GET",
    path: "/agents/{handle}",
    page: true,
    cors: "none",
    async handle(c) {
      const name = decodeSegment(c.get("path").slice("/agents/".length)) ?? "";
      const found = await findActiveAgent(agents, name);
      if (found === null) {
        if (!namesHtml(c.req.raw)) throw unknownAgent();
        return answerPage(await unknownAgentPage(name), { status: 404 });
      }
      const { handle } = found.agent;
      if (name === handle) return answerPage(await agentPage(found, config.baseUrl));
      return new Response(null, {
        status: 302,
        headers: { ...pageHeaders(), Location: `/agents/${handle}` },
      });
    },
  };
}

function unknownAgent(): RelayError {
  return new RelayError(
    "not_found",
    "no active agent has this handle, word name or base58 key; GET /v1/agents?q= searches the directory",
  );
}
