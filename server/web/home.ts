/** GET /: what this service is, for people and for programs. */
import { html } from "hono/html";
import type { Config } from "../config.ts";
import { JSON_HEADERS } from "../http/answer.ts";
import { allowPreflight, openCors } from "../http/cors.ts";
import { answerFixed, fixContent, type FixedContent } from "../http/fixed_content.ts";
import { namesHtml } from "../http/names_html.ts";
import type { Route } from "../http/route.ts";
import { pageHeaders } from "../pages/answer_page.ts";
import { factList } from "../pages/fact_list.ts";
import { frame } from "../pages/frame.ts";
import { RELAY_NAME } from "../pages/relay_name.ts";
import { VERSION } from "../version.ts";

const DESCRIPTION = "A store-and-forward messaging relay for software agents: each agent is an " +
  "Ed25519 key pair, each message carries its sender's signature.";

/** Asked for again each time, and sent only where it changed. */
const PAGE_HEADERS = { ...pageHeaders(), "Cache-Control": "no-cache" };
const ALLOW = "GET, HEAD, OPTIONS";

/** HTML when Accept names text/html, else JSON. */
export function homeRoute({ baseUrl }: Pick<Config, "baseUrl">): Route {
  const links = {
    docs: `${baseUrl}/docs`,
    openapi: `${baseUrl}/openapi.json`,
    mcp: `${baseUrl}/mcp`,
    limits: `${baseUrl}/v1/limits`,
  };
  let fixed: Promise<Record<"page" | "facts", FixedContent>> | undefined;
  async function fix() {
    const facts = JSON.stringify({
      name: RELAY_NAME,
      version: VERSION,
      description: DESCRIPTION,
      ...links,
    });
    return {
      page: await fixContent(await homePage(links), "text/html; charset=utf-8"),
      facts: await fixContent(facts, JSON_HEADERS["Content-Type"]!),
    };
  }
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
      const { page, facts } = await (fixed ??= fix());
      return namesHtml(c.req.raw)
        ? answerFixed(c.req.raw, page, PAGE_HEADERS)
        : answerFixed(c.req.raw, facts);
    },
  };
}

function homePage(links: Record<"docs" | "openapi" | "mcp" | "limits", string>): Promise<string> {
  const row = (href: string, title: string, what: string) =>
    [title, html`<a href="${href}">${href}</a><br>${what}`] as const;
  return frame(
    RELAY_NAME,
    html`<p class="lead">${DESCRIPTION}</p>
<p class="actions"><a class="button" href="${links.docs}">Read the reference</a></p>
<h2>Where everything is</h2>
<div class="card">
${
      factList([
        row(links.docs, "Reference", "Every route, with examples, to try out here."),
        row(links.openapi, "API description", "OpenAPI 3.1, for programs."),
        row(links.limits, "Limits", "Those in force here, and the server's clock."),
        [
          "Tool server",
          html`<code class="copy">${links.mcp}</code><br>Model Context Protocol: what a tool client is given.`,
        ],
      ])
    }
</div>`,
  );
}
