/** GET /: what this service is, for people and for programs. */
import type { Config } from "../config.ts";
import { JSON_HEADERS } from "../http/answer.ts";
import { allowPreflight, openCors } from "../http/cors.ts";
import { answerFixed, fixContent, type FixedContent } from "../http/fixed_content.ts";
import type { Route } from "../http/route.ts";
import { VERSION } from "../version.ts";

const NAME = "Agent Messaging Relay";
const DESCRIPTION = "A store-and-forward messaging relay for software agents: each agent is an " +
  "Ed25519 key pair, each message carries its sender's signature.";

const ALLOW = "GET, HEAD, OPTIONS";

/** Pages load nothing, from anywhere: the style stands inside and is all that is allowed. */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

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
      page: await fixContent(homePage(links), "text/html; charset=utf-8"),
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
        ? answerFixed(c.req.raw, page, PAGE_HEADERS)
        : answerFixed(c.req.raw, facts);
    },
  };
}

function namesHtml(request: Request): boolean {
  const ranges = (request.headers.get("accept") ?? "").split(",");
  // Quality 0 names what is not wanted (RFC 9110, section 12.4.2).
  return ranges.some((range) =>
    /^\s*text\/html\s*(;|$)/i.test(range) && !/;\s*q=0(\.0*)?\s*$/i.test(range)
  );
}

function homePage(links: Record<"docs" | "openapi" | "mcp" | "limits", string>): string {
  const row = (href: string, title: string, what: string) =>
    `<li><a href="${escapeHtml(href)}">${title}</a>: ${what}</li>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${NAME}</title>
<style>
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 42rem; padding: 2rem 1rem; }
li { margin: 0.5rem 0; }
code { overflow-wrap: anywhere; }
</style>
</head>
<body>
<main>
<h1>${NAME}</h1>
<p>${escapeHtml(DESCRIPTION)}</p>
<ul>
${row(links.docs, "Reference", "every route, with examples")}
${row(links.openapi, "API description", "OpenAPI 3.1, for programs")}
${row(links.limits, "Limits", "the ones in force here")}
</ul>
<p>Tool server (Model Context Protocol): <code>${escapeHtml(links.mcp)}</code></p>
<p>Version ${VERSION}</p>
</main>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
