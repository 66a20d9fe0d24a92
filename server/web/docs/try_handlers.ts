/** GET /docs/try: the API description as a page, with every public route to try out. */
import type { Context } from "hono";
import { html } from "hono/html";
import type { Config } from "../../base/config/config.ts";
import { RelayError } from "../../base/errors.ts";
import {
  answerFixed,
  fixContent,
  type FixedContent,
} from "../../base/http/answers/fixed_content.ts";
import type { Handler, HttpEnv } from "../../base/http/routes/route.ts";
import { type FileName, loadTryFiles, type TryFiles } from "./try_files.ts";

const KEPT = "public, max-age=31536000, immutable";
const ASKED_EACH_TIME = "no-cache";

/** Nothing from elsewhere, no inline scripts; Swagger UI styles elements and draws data: icons. */
function policyOf(baseUrl: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    // What is tried out goes to the address in the description, which may be another name of this relay.
    `connect-src 'self' ${baseUrl}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Handlers rather than routes: two open routes take all below /docs (docs_routes.ts). */
export interface TryHandlers {
  givePage: Handler;
  /** The files that it loads, at /docs/try/{file}. */
  giveFile: Handler;
}

export function tryHandlers({ baseUrl }: Pick<Config, "baseUrl">): TryHandlers {
  let loading: Promise<TryFiles> | undefined;
  let page: Promise<FixedContent> | undefined;
  const files = () =>
    loading ??= loadTryFiles().catch((error) => {
      loading = undefined;
      throw error;
    });
  const fixedPage = async (all: TryFiles) =>
    await fixContent(await tryPage(all), "text/html; charset=utf-8");
  const common = { "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer" };
  const pageHeaders = {
    ...common,
    "Content-Security-Policy": policyOf(baseUrl),
    "Cache-Control": ASKED_EACH_TIME,
  };

  async function givePage(c: Context<HttpEnv>): Promise<Response> {
    return answerFixed(c.req.raw, await (page ??= files().then(fixedPage)), pageHeaders);
  }

  async function giveFile(c: Context<HttpEnv>): Promise<Response> {
    const name = c.get("path").slice("/docs/try/".length);
    const all = await files();
    if (!Object.hasOwn(all, name)) {
      throw new RelayError("not_found", "the page loads no such file; it is at /docs/try");
    }
    const file = all[name as FileName];
    const isAddressed = c.get("query") === `v=${file.version}`;
    return answerFixed(c.req.raw, file, {
      ...common,
      "Cache-Control": isAddressed ? KEPT : ASKED_EACH_TIME,
    });
  }

  return { givePage, giveFile };
}

async function tryPage(files: TryFiles): Promise<string> {
  const address = (name: FileName) => `/docs/try/${name}?v=${files[name].version}`;
  // deno-fmt-ignore
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Try it here - Agent Messaging Relay</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${address("swagger-ui.css")}">
<style>
body { margin: 0; }
.key-bar { align-items: center; background: #1b1b1b; color: #fff; display: flex; flex-wrap: wrap; font: 0.9rem/1.5 system-ui, sans-serif; gap: 0.5rem 1rem; padding: 0.5rem 1.25rem; }
.key-bar a { color: #9fd3ff; }
.key-bar output { overflow-wrap: anywhere; }
</style>
<script defer src="${address("swagger-ui-bundle.js")}"></script>
<script type="module" src="${address("try.js")}"></script>
</head>
<body>
<header class="key-bar">
<a href="/">Agent Messaging Relay</a>
<a href="/docs">Docs</a>
<a href="/openapi.json">openapi.json</a>
<button id="make-key" type="button">Try with a new key</button>
<output id="key-status">Signed routes need a key or a token; a key made here is gone with the page</output>
</header>
<noscript>This page is made by a script. The description itself is <a href="/openapi.json">openapi.json</a>.</noscript>
<main id="reference"></main>
</body>
</html>
`;
  return String(await page);
}
