/** The links of documents, and where they lead on a relay. Pure. */
import { posix } from "node:path";
import { GUIDES } from "./guides.ts";

/** Documents of the repository, and sections of them, by the page that shows them. */
const PAGES: Readonly<Record<string, string>> = {
  "docs/api.md": "/docs/reference",
  "docs/examples/relay.mjs": "/docs/start#javascript",
  "docs/examples/relay.py": "/docs/start#python",
  "docs/verify.html": "/verify",
  ...Object.fromEntries(GUIDES.map(({ file, slug }) => [file, `/docs/${slug}`])),
};

/**
 * The target of a link of a document, on this relay or elsewhere; null for a file of the repository
 * that no page shows.
 * @param from the document's path in the repository
 */
export function targetOf(href: string, from: string): string | null {
  if (/^(?:[a-z][a-z0-9+.-]*:|\/|#)/i.test(href)) return href;
  const [file = "", anchor] = href.split("#");
  const path = posix.join(posix.dirname(from), file);
  const exact = anchor === undefined ? undefined : PAGES[`${path}#${anchor}`];
  if (exact !== undefined) return exact;
  const page = PAGES[path];
  if (page === undefined) return null;
  return anchor === undefined || page.includes("#") || path === "docs/api.md"
    ? page
    : `${page}#${anchor}`;
}

/** A link as it is to stand, or null for its text alone. */
export type RewriteLink = (href: string, text: string) => { href: string; text: string } | null;

const FENCES = /^(```[^]*?^```)$/m;
/** A piece of code, or an inline link, whose text may hold code. */
const LINK = /(`[^`\n]*`)|\[((?:[^[\]`]|`[^`\n]*`)*)\]\(([^()\s]+)\)/g;

/** The document with every inline link rewritten; what stands in code stays. */
export function rewriteLinks(markdown: string, rewrite: RewriteLink): string {
  return markdown.split(FENCES).map((part) =>
    part.startsWith("```")
      ? part
      : part.replace(LINK, (whole, code?: string, text?: string, href?: string) => {
        if (code !== undefined) return whole;
        const link = rewrite(href!, text!);
        return link === null ? text! : `[${link.text}](${link.href})`;
      })
  ).join("");
}
