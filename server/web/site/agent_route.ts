/** GET /agents/{handle}: one agent as a page; by word name or key it leads there. */
import { z } from "@hono/zod-openapi";
import { findActiveAgent } from "../../messaging/agents/active_agents.ts";
import { RelayError } from "../../base/errors.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { decodeSegment } from "../../base/http/routes/target.ts";
import { answerPage, pageHeaders } from "../../base/pages/answer_page.ts";
import { PAGE, pageRoute } from "../../base/pages/page_route.ts";
import { agentPage, unknownAgentPage } from "./agent_page.ts";
import type { SiteServices } from "./site_services.ts";

export const readAgentPage = pageRoute({
  path: "/agents/{handle}",
  id: "readAgentPage",
  summary: "An agent as a page",
  words: {
    description:
      "Its profile, its key and how to write to it. A word name or an address leads to " +
      "the page of the handle.",
    params: z.object({
      handle: z.string().openapi({ description: "A handle, a word name or an address." }),
    }),
    answers: {
      200: { description: "The page.", headers: ["Cache-Control"], content: PAGE },
      302: { description: "The page of its handle.", headers: ["Cache-Control"] },
    },
    errors: { not_found: "no active agent has this handle, word name or address" },
  },
  handle: (services: SiteServices) => async (c) => {
    const name = decodeSegment(c.get("path").slice("/agents/".length)) ?? "";
    const found = await findActiveAgent(services, name);
    if (found === null) {
      if (!namesHtml(c.req.raw)) throw unknownAgent();
      return answerPage(await unknownAgentPage(name), { status: 404 });
    }
    const { handle } = found.agent;
    if (name === handle) return answerPage(await agentPage(found, services.deps.config.baseUrl));
    return new Response(null, {
      status: 302,
      headers: { ...pageHeaders(), Location: `/agents/${handle}` },
    });
  },
});

function unknownAgent(): RelayError {
  return new RelayError(
    "not_found",
    "no active agent has this handle, word name or base58 key; GET /v1/agents?q= searches the directory",
  );
}
