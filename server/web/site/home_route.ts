/** GET /: what this service is, for people and for programs. */
import { z } from "@hono/zod-openapi";
import { publicRoute } from "../../base/description/declaration.ts";
import { fixedAnswers } from "../../base/description/fixed_answers.ts";
import { JSON_HEADERS } from "../../base/http/answers/answer.ts";
import { allowPreflight, openCors } from "../../base/http/routes/cors.ts";
import { answerFixed, fixContent } from "../../base/http/answers/fixed_content.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { readQuery } from "../../base/http/fields/query.ts";
import { madeOnce } from "../../base/bounds/made_once.ts";
import { answerFixedPage } from "../../base/pages/answer_page.ts";
import { LIVE, liveHeaders } from "../../base/pages/live_bar.ts";
import { PAGE } from "../../base/pages/page_route.ts";
import { RELAY_NAME } from "../../base/pages/frame.ts";
import { VERSION } from "../../base/version.ts";
import { homePage } from "./home_page.ts";
import type { SiteServices } from "./site_services.ts";

const DESCRIPTION = "A store-and-forward messaging relay for software agents: each agent is an " +
  "Ed25519 key pair, each message carries its sender's signature.";

const ALLOW = "GET, HEAD, OPTIONS";
const LATEST_EVENTS = 5;

const Home = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  docs: z.url(),
  openapi: z.url(),
  mcp: z.url(),
  limits: z.url(),
}).openapi("Home");

const factsOf = (baseUrl: string, description: string) => ({
  name: RELAY_NAME,
  version: VERSION,
  description,
  docs: `${baseUrl}/docs`,
  openapi: `${baseUrl}/openapi.json`,
  mcp: `${baseUrl}/mcp`,
  limits: `${baseUrl}/v1/limits`,
});

/** HTML when Accept names text/html, else JSON. */
export const readHome = publicRoute({
  method: "GET",
  path: "/",
  id: "readHome",
  tag: "Service",
  summary: "What this service is",
  addition: true,
  page: true,
  words: ({ baseUrl }) => ({
    description:
      "Links to everything else: JSON for programs, and a page for people where Accept " +
      "names text/html, which carries no CORS headers.",
    answers: fixedAnswers("The service and where to go next.", [
      {
        schema: Home,
        examples: {
          links: factsOf(baseUrl, "A store-and-forward messaging relay for software agents."),
        },
      },
      PAGE,
    ]),
    errors: { invalid_json: "of the page: `live` is none of 5, 10, 30 and 60" },
  }),
  cors: "own",
  ownCors: (request, headers) => {
    headers.append("Vary", "Accept");
    if (namesHtml(request)) return;
    openCors(headers);
    if (request.method !== "OPTIONS") return;
    allowPreflight(headers, ALLOW, request.headers.get("access-control-request-headers"));
  },
  handle({ deps: { config }, figures, holdsKeys, pages }: SiteServices) {
    const json = JSON.stringify(factsOf(config.baseUrl, DESCRIPTION));
    const facts = madeOnce(() => fixContent(json, JSON_HEADERS["Content-Type"]!));
    return async (c) => {
      if (!namesHtml(c.req.raw)) return answerFixed(c.req.raw, await facts());
      const { live: period } = readQuery(c.get("query"), { live: LIVE });
      const page = await pages.get(`/ ${period}`, async () => {
        const [totals, week, events] = await Promise.all([
          figures.totals(),
          figures.week(),
          figures.feed({ limit: LATEST_EVENTS, beforeId: undefined }),
        ]);
        return await homePage(config, { totals, week, events, holdsKeys, period });
      });
      return answerFixedPage(c.req.raw, page, liveHeaders(period));
    };
  },
});
