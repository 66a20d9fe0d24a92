/** Everything that /docs shows of one relay: the page at each path, and the order of pages. */
import type { Description } from "../../base/description/description.ts";
import type { Content, Operation, Tag } from "../../base/description/operation.ts";
import { describeTag } from "../../base/description/tags.ts";
import { fixContent } from "../../base/http/answers/fixed_content.ts";
import { madeOnce } from "../../base/bounds/made_once.ts";
import { KEPT_PAGE_HEADERS } from "../../base/pages/answer_page.ts";
import { type DocsLinks, docsPage, type Leaf } from "./docs_page.ts";
import { rewriteLinks, targetOf } from "./document_links.ts";
import { type Guide, GUIDES } from "./guides.ts";
import { operationMarkdown } from "./operation_markdown.ts";
import type { Readings } from "./docs_routes.ts";

/** Every page in HTML and in Markdown, and all of them in two files for language models. */
export function libraryReadings(description: Description): Readings {
  const library = new Library(description);
  const reading = (path: string, type: string, make: () => string | Promise<string>) =>
    [
      path,
      madeOnce(async () => ({
        content: await fixContent(await make(), `${type}; charset=utf-8`),
        headers: KEPT_PAGE_HEADERS,
      })),
    ] as const;
  return new Map([
    ...library.leaves.flatMap((leaf) => [
      reading(leaf.path, "text/html", () => docsPage(leaf, library.linksFor(leaf))),
      reading(leaf.source, "text/markdown", () => wholeMarkdown(leaf)),
    ]),
    reading("/llms.txt", "text/plain", () => library.llms()),
    reading("/llms-full.txt", "text/plain", () => library.llmsFull()),
  ]);
}

class Library {
  /** All pages in reading order. */
  readonly leaves: readonly Leaf[];
  readonly #guides: readonly Leaf[];
  readonly #operations: readonly Leaf[];
  readonly #baseUrl: string;

  constructor(private readonly description: Description) {
    const { setting, operations } = description;
    this.#baseUrl = setting.baseUrl;
    this.#guides = GUIDES.filter((guide) => guide.isHidden?.(setting) !== true)
      .map((guide) => this.#guideLeaf(guide));
    this.#operations = operations.filter((one) => isShown(one, setting.mailOn))
      .map((operation) => this.#operationLeaf(operation));
    const overview = leafOf("/docs", "Documentation", () => this.#index());
    this.leaves = [
      { ...overview, source: "/docs/index.md" },
      ...this.#guides,
      leafOf("/docs/reference", "Reference", () => this.#referenceIndex()),
      ...this.#operations,
    ];
  }

  /** The links beside a page. */
  linksFor({ tag: open }: Leaf): DocsLinks {
    return {
      guides: [{ path: "/docs", label: "Overview" }, ...this.#guides],
      reference: [
        { path: "/docs/reference", label: "All operations" },
        ...this.#tags().map((tag) => ({
          path: `/docs/reference#${tag.toLowerCase().replaceAll(" ", "-")}`,
          label: tag,
          operations: tag === open ? this.#of(tag) : undefined,
        })),
        { path: "/docs/try", label: "Try it here" },
        { path: "/openapi.json", label: "openapi.json" },
      ],
    };
  }

  /** https://llmstxt.org: what there is, with a link to each page in Markdown. */
  llms(): string {
    const item = ({ source, label, summary }: Leaf) =>
      `- [${label}](${this.#baseUrl}${source}): ${summary}`;
    return `${introduction(this.#baseUrl)}
## Guides

${this.#guides.map(item).join("\n")}

## Reference

${this.#operations.map(item).join("\n")}

## Optional

- [openapi.json](${this.#baseUrl}/openapi.json): the API as OpenAPI 3.1
- [llms-full.txt](${this.#baseUrl}/llms-full.txt): all of this in one file
`;
  }

  /** Every page in one file. */
  llmsFull(): string {
    return [
      introduction(this.#baseUrl),
      ...[...this.#guides, ...this.#operations].map((leaf) =>
        `<!-- ${this.#baseUrl}${leaf.path} -->\n\n${wholeMarkdown(leaf)}`
      ),
    ].join("\n");
  }

  #guideLeaf({ slug, label, summary, file, markdown }: Guide): Leaf {
    const write = () =>
      rewriteLinks(
        markdown(this.description.setting),
        (href, text) => this.#shown(href, text, file),
      );
    return { ...leafOf(`/docs/${slug}`, label, write), summary };
  }

  #operationLeaf(operation: Operation): Leaf {
    const { id, summary, tag, method, path } = operation;
    const write = () => operationMarkdown(operation, this.description);
    return {
      ...leafOf(`/docs/reference/${id}`, summary, () => write().main),
      tag,
      summary: `\`${method.toUpperCase()} ${path}\``,
      collapsed: () => ({
        title: "Errors that most routes share",
        markdown: write().commonErrors,
      }),
    };
  }

  /** A link of a guide; those to pages that are left out here, and to files, lead nowhere. */
  #shown(href: string, text: string, file: string): { href: string; text: string } | null {
    const target = targetOf(href, file);
    if (target === null) return null;
    const [page = ""] = target.split("#");
    if (!page.startsWith("/docs/")) return { href: target, text };
    const leaf = this.leaves.find(({ path }) => path === page);
    if (leaf === undefined) return null;
    // Readers here know pages by their names, not files by theirs.
    return { href: target, text: /^[\w./-]+\.md$/.test(text) ? `the page ${leaf.label}` : text };
  }

  #index(): string {
    const item = ({ path, label, summary }: Leaf) => `- [${label}](${path}): ${summary}`;
    return `${introduction(this.#baseUrl, "Documentation")}
New here? [Start](/docs/start) sends a first message in a minute.

## Guides

${this.#guides.map(item).join("\n")}

## Reference

- [All operations](/docs/reference): one page each, with examples
- [Try it here](/docs/try): every public route, with a key made in the browser
- [openapi.json](/openapi.json): the API as OpenAPI 3.1, for programs
- [The verifier](/verify): check a message in the browser, offline
`;
  }

  #referenceIndex(): string {
    const row = ({ path, label, summary }: Leaf) => `| [${label}](${path}) | ${summary} |`;
    const groups = this.#tags().map((tag) =>
      `## ${tag}

${describeTag(tag, this.description.setting.mailOn)}

| what | request |
| --- | --- |
${this.#of(tag).map(row).join("\n")}`
    );
    return `# Reference

One page an operation, made from [openapi.json](/openapi.json). [Try it here](/docs/try) sends requests from
the browser. JSON in and out; times in RFC 3339 UTC with milliseconds; ids are integers below 2^53. Be ready
for fields that are added.

${groups.join("\n\n")}
`;
  }

  #tags(): Tag[] {
    return [...new Set(this.#operations.map(({ tag }) => tag!))];
  }

  #of(tag: Tag): readonly Leaf[] {
    return this.#operations.filter((leaf) => leaf.tag === tag);
  }
}

function leafOf(path: string, label: string, markdown: () => string): Leaf {
  return { path, source: `${path}.md`, label, summary: "", markdown };
}

/** A page in Markdown with all of it. */
function wholeMarkdown(leaf: Leaf): string {
  const collapsed = leaf.collapsed?.();
  return leaf.markdown() +
    (collapsed === undefined ? "" : `\n## ${collapsed.title}\n\n${collapsed.markdown}\n`);
}

function introduction(baseUrl: string, title = "Agent Messaging Relay"): string {
  return `# ${title}

> A store-and-forward relay for messages between software agents, at ${baseUrl}. An agent is an Ed25519
> key pair: it registers itself, signs what it sends, and verifies what it receives offline.
`;
}

/** What programs call, and what this relay has: no pages, and what this version does not only refuse. */
function isShown({ path, answers }: Operation, mailOn: boolean): boolean {
  if (!mailOn && /^\/(?:v1\/mail|v1\/admin\/mail|mcp\/mail)(?:\/|$)/.test(path)) return false;
  if (!Object.keys(answers).some((status) => status.startsWith("2"))) return false;
  const types = Object.values(answers).flatMap(({ content }) =>
    ([content ?? []].flat() as Content[]).map(({ type = "application/json" }) => type)
  );
  const isOfPages = /^(?:text\/(?:html|css|javascript|markdown)|image\/)/;
  return types.length === 0 || types.some((type) => !isOfPages.test(type));
}
