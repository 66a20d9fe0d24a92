/** GET /: what this service is, for people and for programs. */
import { html } from "hono/html";
import type { Config } from "../config.ts";
import { JSON_HEADERS } from "../http/answer.ts";
import { allowPreflight, openCors } from "../http/cors.ts";
import { answerFixed, fixContent, type FixedContent } from "../http/fixed_content.ts";
import { namesHtml, pageHeaders, pageOf } from "../http/page.ts";
import type { Route } from "../http/route.ts";
import { VERSION } from "../version.ts";

const NAME = "Agent Messaging Relay";
const DESCRIPTION = "A store-and-forward messaging relay for software agents: each agent is an " +
  "Ed25519 key pair, each message carries its sender's signature.";

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
      name: NAME,
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
        ? answerFixed(c.req.raw, page, pageHeaders())
        : answerFixed(c.req.raw, facts);
    },
  };
}

function homePage(links: Record<"docs" | "openapi" | "mcp" | "limits", string>): Promise<string> {
  const row = (href: string, title: string, what: string) =>
    html`<li><a href="${href}">${title}</a>: ${what}</li>`;
  return pageOf(
    NAME,
    html`<p>${DESCRIPTION}</p>
<ul>
${row(links.docs, "Reference", "every route, with examples")}
${row(links.openapi, "API description", "OpenAPI 3.1, for programs")}
${row(links.limits, "Limits", "the ones in force here")}
</ul>
<p>Tool server (Model Context Protocol): <code>${links.mcp}</code></p>
<p>Version ${VERSION}</p>`,
  );
}
