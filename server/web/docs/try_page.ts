/**
 * GET /docs/try: the API description as a page, with every public route to try out. What it loads is
 * imported as modules, so that it is there wherever the relay runs (docs/adr/0032).
 */
import { html } from "hono/html";
import type { Config } from "../../base/config/config.ts";
import { fixContent, type FixedContent } from "../../base/http/answers/fixed_content.ts";
import { madeOnce } from "../../base/bounds/made_once.ts";
import { fixPage } from "../../base/pages/answer_page.ts";
import type { Reading, Readings } from "./docs_routes.ts";

const SCRIPT = "text/javascript; charset=utf-8";
const FILE_TYPES = {
  "swagger-ui-bundle.js": SCRIPT,
  "swagger-ui.css": "text/css; charset=utf-8",
  "try.js": SCRIPT,
};
type FileName = keyof typeof FILE_TYPES;
type TryFiles = Readonly<Record<FileName, FixedContent>>;

const HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
};
const KEPT = { "Cache-Control": "public, max-age=31536000, immutable" };

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

/** The page at /docs/try, and the files that it loads at /docs/try/{file}. */
export function tryReadings({ baseUrl }: Pick<Config, "baseUrl">): Readings {
  const load = madeOnce(loadFiles);
  const headers = { ...HEADERS, "Content-Security-Policy": policyOf(baseUrl) };
  const readPage = madeOnce<Reading>(async () => ({
    content: await fixPage(await tryPage(await load())),
    headers,
  }));
  const names = Object.keys(FILE_TYPES) as FileName[];
  return new Map<string, () => Promise<Reading>>([
    ["/docs/try", readPage],
    ...names.map((name) =>
      [`/docs/try/${name}`, async () => ({
        content: (await load())[name],
        headers: HEADERS,
        addressedHeaders: KEPT,
      })] as const
    ),
  ]);
}

async function loadFiles(): Promise<TryFiles> {
  const [bundle, style, client] = await Promise.all([
    import("swagger-ui-dist/swagger-ui-bundle.js", { with: { type: "text" } }),
    import("swagger-ui-dist/swagger-ui.css", { with: { type: "text" } }),
    import("./try_client.js", { with: { type: "text" } }),
  ]);
  const fix = (name: FileName, module: { default: unknown }) => {
    // Source maps are not served: a reference to one would only be asked for in vain.
    const text = String(module.default).replace(/\n(\/\/|\/\*)# sourceMappingURL=.*\s*$/, "\n");
    return fixContent(text, FILE_TYPES[name]);
  };
  return {
    "swagger-ui-bundle.js": await fix("swagger-ui-bundle.js", bundle),
    "swagger-ui.css": await fix("swagger-ui.css", style),
    "try.js": await fix("try.js", client),
  };
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
