/** The frame of every page for people: header, main part, footer, one stylesheet from /assets. */
import { html } from "hono/html";
import { VERSION } from "../version.ts";
import { type AssetFile, ICON, STYLESHEET } from "./asset_files.ts";
import { type Html, shownText } from "./elements.ts";
import { visibleText } from "./visible_text.ts";

/** The name of this service, in the header and the title of every page. */
export const RELAY_NAME = "Agent Messaging Relay";

export interface FrameOptions {
  /** What the heading says instead of the title. */
  heading?: Html;
  /** Whether the main part is wider than a column of text: for tables and lists of records. */
  isWide?: boolean;
  /** The link of the header that the page belongs to. */
  section?: Section;
  /** Scripts that the page loads; it works without them. */
  scripts?: readonly AssetFile[];
  /** Whether search engines are asked to leave the page out, as where it repeats what strangers wrote. */
  isUnlisted?: boolean;
}

/** Where the header leads: pages of every relay. */
const LINKS = {
  "/network": "Network",
  "/agents": "Agents",
  "/verify": "Verify",
  "/docs": "Docs",
} as const;

export type Section = keyof typeof LINKS;

/**
 * A page as text, from its doctype on. It holds no script and no style of its own.
 * @param title plain text, also of others: hidden characters are shown; the heading says the same
 */
export async function frame(
  title: string,
  content: Html,
  { heading, isWide = false, section, scripts = [], isUnlisted = false }: FrameOptions = {},
): Promise<string> {
  const tab = title === RELAY_NAME ? title : `${visibleText(title)} - ${RELAY_NAME}`;
  // deno-fmt-ignore
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${isUnlisted ? html`<meta name="robots" content="noindex">\n` : ""}<title>${tab}</title>
<link rel="icon" type="image/svg+xml" href="${ICON.path}">
<link rel="stylesheet" href="${STYLESHEET.path}">
${scripts.map(({ path }) => html`<script type="module" src="${path}"></script>\n`)}</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<div class="bar">
<a class="brand" href="/"><img src="${ICON.path}" alt="" width="28" height="28">${RELAY_NAME}</a>
<nav aria-label="Relay">${Object.entries(LINKS).map(([href, label]) => linkTo(href, label, section))}</nav>
</div>
</header>
<main id="main"${isWide ? html` class="wide"` : ""}>
<h1>${heading ?? shownText(title)}</h1>
${content}
</main>
<footer>
<div class="bar">
<span>Version ${VERSION}</span>
<a href="/v1/limits">Limits in force here</a>
<a href="/contact">Who runs this relay</a>
</div>
</footer>
</body>
</html>
`;
  return String(await page);
}

function linkTo(href: string, label: string, section: Section | undefined): Html {
  return html`
    <a href="${href}" ${href === section
      ? html`
        aria-current="true"
      `
      : ""}>${label}</a>
  `;
}
