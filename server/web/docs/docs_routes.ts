/** /docs, its pages in HTML and in Markdown, /llms.txt and /llms-full.txt. */
import { html } from "hono/html";
import type { Description } from "../../base/description/description.ts";
import { RelayError } from "../../base/errors.ts";
import {
  answerFixed,
  fixContent,
  type FixedContent,
} from "../../base/http/answers/fixed_content.ts";
import type { Handler } from "../../base/http/routes/route.ts";
import { FIXED_PAGE_HEADERS } from "../../base/pages/answer_page.ts";
import { docsPage } from "./docs_page.ts";
import type { Leaf, Library } from "./library.ts";
import { readingRoute } from "./reading_route.ts";
import type { TryHandlers } from "./try_handlers.ts";

const HTML = "text/html; charset=utf-8";
const MARKDOWN = "text/markdown; charset=utf-8";
const PLAIN = "text/plain; charset=utf-8";

/** Handlers rather than routes: a path of theirs is for several. */
interface DocsReader {
  /** The page of a path, in HTML or Markdown. */
  showPage: Handler;
  showText(make: (library: Library) => string): Handler;
}

/** Texts and renderer are loaded when a page is first asked for; pages are made once. */
export function createDocsReader(describe: () => Promise<Description>): DocsReader {
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
      return answerFixed(c.req.raw, content, FIXED_PAGE_HEADERS);
    }
    const source = library.leaves.find((one) => one.source === path);
    if (source === undefined) {
      throw new RelayError("not_found", "the documentation has no such page; /docs lists them all");
    }
    const { wholeMarkdown } = await import("./library.ts");
    const content = await contentOf(path, () => fixContent(wholeMarkdown(source), MARKDOWN));
    return answerFixed(c.req.raw, content, FIXED_PAGE_HEADERS);
  };

  const showText: DocsReader["showText"] = (make) => async (c) => {
    const library = await open();
    const content = await contentOf(c.get("path"), () => fixContent(make(library), PLAIN));
    return answerFixed(c.req.raw, content, FIXED_PAGE_HEADERS);
  };

  return { showPage, showText };
}

interface DocsServices {
  reader: DocsReader;
  tryOut: TryHandlers;
}

const readDocs = readingRoute({
  path: "/docs",
  id: "readDocs",
  summary: "The documentation as pages",
  description:
    "Guides and the reference for people, in the words of this relay: its address, its " +
    "limits. Each page is there in Markdown too.",
  types: ["text/html"],
  handle: ({ reader }: DocsServices) => reader.showPage,
});

// Two open routes take all that is below /docs: beside them the fast router of the application takes no
// literal path of the same method.

const readGuide = readingRoute({
  path: "/docs/{file}",
  id: "readGuide",
  summary: "A guide, or the page to try routes out",
  description:
    "As a page, or with `.md` behind its name in Markdown. /docs and /llms.txt list them. /docs/try is this description as a page that sends requests, signed by a key that the browser makes.",
  segments: { file: "Such as `start`, `start.md` or `try`." },
  types: ["text/html", "text/markdown"],
  handle: ({ reader, tryOut }: DocsServices) => (c) =>
    c.get("path") === "/docs/try" ? tryOut.givePage(c) : reader.showPage(c),
});

const readReferencePage = readingRoute({
  path: "/docs/{folder}/{file}",
  id: "readReferencePage",
  summary: "An operation of the reference, or a file of /docs/try",
  description:
    "In the folder `reference` one operation of this description with its examples and " +
    "errors: as a page, or with `.md` behind its name in Markdown. Operations of mail are there while " +
    "mail is on. In the folder `try` the scripts and styles that /docs/try loads.",
  segments: {
    folder: "`reference` or `try`.",
    file: "An operationId such as `sendMessage`, or `sendMessage.md`.",
  },
  types: ["text/html", "text/markdown", "text/javascript", "text/css"],
  handle: ({ reader, tryOut }: DocsServices) => (c) =>
    c.get("path").startsWith("/docs/try/") ? tryOut.giveFile(c) : reader.showPage(c),
});

const readLlms = readingRoute({
  path: "/llms.txt",
  id: "readLlms",
  summary: "The documentation for language models",
  description: "What there is to read, with links to all of it in Markdown (llmstxt.org).",
  types: ["text/plain"],
  handle: ({ reader }: DocsServices) => reader.showText((library) => library.llms()),
});

const readLlmsFull = readingRoute({
  path: "/llms-full.txt",
  id: "readLlmsFull",
  summary: "The whole documentation in one file",
  description: "Every guide and every operation in Markdown, one after the other.",
  types: ["text/plain"],
  handle: ({ reader }: DocsServices) => reader.showText((library) => library.llmsFull()),
});

export const LIBRARY_ROUTES = [readDocs, readGuide, readReferencePage, readLlms, readLlmsFull];

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
