/** GET /: what this service is, for people and for programs. */
import { JSON_HEADERS } from "../../base/http/answers/answer.ts";
import { allowPreflight, openCors } from "../../base/http/routes/cors.ts";
import {
  answerFixed,
  fixContent,
  type FixedContent,
} from "../../base/http/answers/fixed_content.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { readQuery } from "../../base/http/fields/query.ts";
import type { Route } from "../../base/http/routes/route.ts";
import { pageHeaders } from "../../base/pages/answer_page.ts";
import { LIVE_PARAMETER, liveHeaders } from "../../base/pages/live_bar.ts";
import { RELAY_NAME } from "../../base/pages/relay_name.ts";
import { VERSION } from "../../base/version.ts";
import { homePage } from "./home_page.ts";
import type { SiteServices } from "./site_services.ts";

const DESCRIPTION = "A store-and-forward messaging relay for software agents: each agent is an " +
  "Ed25519 key pair, each message carries its sender's signature.";

/** Asked for again each time, and sent only where it changed. */
const PAGE_HEADERS = { ...pageHeaders(), "Cache-Control": "no-cache" };
const ALLOW = "GET, HEAD, OPTIONS";
const LATEST_EVENTS = 5;

/** HTML when Accept names text/html, else JSON. */
export function homeRoute({ config, figures, holdsKeys, pages }: SiteServices): Route {
  const { baseUrl } = config;
  let facts: Promise<FixedContent> | undefined;
  const fixFacts = () =>
    fixContent(
      JSON.stringify({
        name: RELAY_NAME,
        version: VERSION,
        description: DESCRIPTION,
        docs: `${baseUrl}/docs`,
        openapi: `${baseUrl}/openapi.json`,
        mcp: `${baseUrl}/mcp`,
        limits: `${baseUrl}/v1/limits`,
      }),
      JSON_HEADERS["Content-Type"]!,
    );
  return {
    method: "GET",
    path: "/",
    page: true,
    cors: "own",
    ownCors: (request, headers) => {
      headers.append("Vary", "Accept");
      if (namesHtml(request)) return;
      openCors(headers);
      if (request.method !== "OPTIONS") return;
      allowPreflight(headers, ALLOW, request.headers.get("access-control-request-headers"));
    },
    async handle(c) {
      if (!namesHtml(c.req.raw)) return answerFixed(c.req.raw, await (facts ??= fixFacts()));
      const { live: period } = readQuery(c.get("query"), { live: LIVE_PARAMETER });
      const page = await pages.get(`/ ${period}`, async () => {
        const [totals, week, events] = await Promise.all([
          figures.totals(),
          figures.week(),
          figures.feed({ limit: LATEST_EVENTS, beforeId: undefined }),
        ]);
        return await homePage(config, { totals, week, events, holdsKeys, period });
      });
      return answerFixed(c.req.raw, page, { ...PAGE_HEADERS, ...liveHeaders(period) });
    },
  };
}
