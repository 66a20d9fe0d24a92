/** /docs, its pages in HTML and in Markdown, /llms.txt and /llms-full.txt. */
import { html } from "hono/html";
import type { Description } from "../../base/description/description.ts";
import { RelayError } from "../../base/errors.ts";
import {
  answerFixed,
  fixContent,
  type FixedContent,
} from "../../base/http/answers/fixed_content.ts";
import type { Handler, Route } from "../../base/http/routes/route.ts";
import { pageHeaders } from "../../base/pages/answer_page.ts";
import { docsPage } from "./docs_page.ts";
import type { Leaf, Library } from "./library.ts";
import type { TryHandlers } from "./try_handlers.ts";

const HTML = "text/html; charset=utf-8";
const MARKDOWN = "text/markdown; charset=utf-8";
const PLAIN = "text/plain; charset=utf-8";
/** Asked for again each time, and sent only where it changed. */
const HEADERS = { ...pageHeaders(), "Cache-Control": "no-cache" };

/**
 * Texts, renderer and schemas are loaded when a page is first asked for; pages are made once.
 *
 * Two open routes take all that is below /docs: beside them the fast router of the application takes no
 * literal path of the same method.
 */
export function docsRoutes(
  describe: () => Promise<Description>,
  tryOut: TryHandlers,
): Route[] {
  const contents = new Map<string, Promise<FixedContent>>();
  let opening: Promise<Library> | undefined;
  const open = () =>
    opening ??= openLibrary(describe).catch((error) => {
      opening = undefined;
      throw error;
    });

  /** The content of a path, made when it is first asked for. @param path of those that there are */
  function contentOf(path: string, make: () => Promise<FixedContent>): Promise<FixedContent> {
    const content = contents.get(path) ?? make().catch((error) => {
      contents.delete(path);
      throw error;
    });
    contents.set(path, content);
    return content;
  }

  const showPage: Handler = async (c) => {
    const path = c.get("path");
    const library = await open();
    const leaf = library.find(path);
    if (leaf !== undefined) {
      const content = await contentOf(path, () => pageOf(leaf, library));
      return answerFixed(c.req.raw, content, HEADERS);
    }
    const source = library.leaves.find((one) => one.source === path);
    if (source === undefined) {
      throw new RelayError("not_found", "the documentation has no such page; /docs lists them all");
    }
    const { wholeMarkdown } = await import("./library.ts");
    const content = await contentOf(path, () => fixContent(wholeMarkdown(source), MARKDOWN));
    return answerFixed(c.req.raw, content, HEADERS);
  };

  const showText = (make: (library: Library) => string): Handler => async (c) => {
    const library = await open();
    const content = await contentOf(c.get("path"), () => fixContent(make(library), PLAIN));
    return answerFixed(c.req.raw, content, HEADERS);
  };

  const page = (path: string, handle: Handler): Route => ({
    method: "GET",
    path,
    page: true,
    cors: "none",
    handle,
  });
  return [
    page("/docs", showPage),
    page("/docs/{file}", (c) => c.get("path") === "/docs/try" ? tryOut.givePage(c) : showPage(c)),
    page(
      "/docs/{folder}/{file}",
      (c) => c.get("path").startsWith("/docs/try/") ? tryOut.giveFile(c) : showPage(c),
    ),
    page("/llms.txt", showText((library) => library.llms())),
    page("/llms-full.txt", showText((library) => library.llmsFull())),
  ];
}

async function openLibrary(describe: () => Promise<Description>): Promise<Library> {
  const [{ Library }, description] = await Promise.all([import("./library.ts"), describe()]);
  return new Library(description);
}

async function pageOf(leaf: Leaf, library: Library): Promise<FixedContent> {
  const { renderMarkdown } = await import("./render_markdown.ts");
  const { title, html: main } = renderMarkdown(leaf.markdown());
  const { title: name = "", markdown = "" } = leaf.collapsed?.() ?? {};
  const collapsed = name === "" ? "" : html`<details><summary>${name}</summary>
${renderMarkdown(markdown).html}</details>`;
  const page = await docsPage({
    title: title || leaf.label,
    body: html`${main}${collapsed}`,
    links: library.linksFor(leaf),
    path: leaf.path,
    source: leaf.source,
  });
  return await fixContent(page, HTML);
}
