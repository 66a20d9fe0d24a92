/** Where the links of documents lead on a relay. Pure. */
import { posix } from "node:path";

/** Documents of the repository, by the page that shows them. */
const PAGES: Readonly<Record<string, string>> = {
  "SECURITY.md": "/docs/security",
  "docs/api.md": "/docs/reference",
  "docs/api.md#errors": "/docs/errors",
  "docs/api.md#limits": "/docs/limits",
  "docs/client.md": "/docs/client",
  "docs/client.md#the-command-line": "/docs/command-line",
  "docs/digest.md": "/docs/digest",
  "docs/examples/relay.mjs": "/docs/start#javascript",
  "docs/examples/relay.py": "/docs/start#python",
  "docs/mail.md": "/docs/mail",
  "docs/operations.md": "/docs/operate",
  "docs/start.md": "/docs/start",
  "docs/tool-server.md": "/docs/mcp",
  "docs/verification.md": "/docs/verify",
  "docs/verify.html": "/verify",
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
