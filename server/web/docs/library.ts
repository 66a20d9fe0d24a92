/** Everything that /docs shows of one relay, as Markdown: what a path shows, and what comes in which order. */
import type { Description } from "../../base/description/description.ts";
import type { Operation, Tag } from "../../base/description/operation.ts";
import { describeTag } from "../../base/description/tags.ts";
import type { DocsLink, DocsLinks } from "./docs_page.ts";
import { type Guide, GUIDES } from "./guides.ts";
import { targetOf } from "./link_of.ts";
import { operationMarkdown } from "./operation_markdown.ts";
import { rewriteLinks } from "./rewrite_links.ts";
import { isShown } from "./shown_operations.ts";

/** A page before it is HTML. */
export interface Leaf {
  /** As in "/docs/start". */
  path: string;
  /** Path of its Markdown. */
  source: string;
  label: string;
  summary: string;
  /** From its title on. */
  markdown(): string;
  /** What is shown collapsed at its end. */
  collapsed?(): { title: string; markdown: string };
  /** The group of operations that it belongs to. */
  tag?: Tag;
}

export class Library {
  readonly guides: readonly Leaf[];
  readonly operations: readonly Leaf[];
  readonly overview: Leaf;
  readonly reference: Leaf;
  readonly #byPath: ReadonlyMap<string, Leaf>;

  constructor(private readonly description: Description) {
    const { setting, operations } = description;
    this.guides = GUIDES.filter((guide) => guide.isHidden?.(setting) !== true)
      .map((guide) => this.#guideLeaf(guide));
    this.operations = operations.filter((one) => isShown(one, setting.mailOn))
      .map((operation) => this.#operationLeaf(operation));
    this.overview = leafOf("/docs", "/docs/index.md", "Documentation", () => this.#index());
    this.reference = leafOf(
      "/docs/reference",
      "/docs/reference.md",
      "Reference",
      () => this.#referenceIndex(),
    );
    this.#byPath = new Map(this.leaves.map((leaf) => [leaf.path, leaf]));
  }

  /** All pages in the order in which a reader meets them. */
  get leaves(): readonly Leaf[] {
    return [this.overview, ...this.guides, this.reference, ...this.operations];
  }

  find(path: string): Leaf | undefined {
    return this.#byPath.get(path);
  }

  /** The links beside a page. */
  linksFor({ path, tag }: Leaf): DocsLinks {
    const open = this.find(path)?.tag ?? tag;
    return {
      guides: [{ href: "/docs", label: "Overview" }, ...this.guides.map(linkTo)],
      reference: [
        { href: "/docs/reference", label: "All operations" },
        ...this.#tags().map((name) => ({
          href: `/docs/reference#${anchorOf(name)}`,
          label: name,
          ...(name === open ? { operations: this.#of(name).map(linkTo) } : {}),
        })),
        { href: "/docs/try", label: "Try it here" },
        { href: "/openapi.json", label: "openapi.json" },
      ],
    };
  }

  /** https://llmstxt.org: what there is, with a link to each page in Markdown. */
  llms(): string {
    const { baseUrl } = this.description.setting;
    const item = ({ source, label, summary }: Leaf) =>
      `- [${label}](${baseUrl}${source}): ${summary}`;
    return `${introduction(baseUrl)}
## Guides

${this.guides.map(item).join("\n")}

## Reference

${this.operations.map(item).join("\n")}

## Optional

- [openapi.json](${baseUrl}/openapi.json): the API as OpenAPI 3.1
- [llms-full.txt](${baseUrl}/llms-full.txt): all of this in one file
`;
  }

  /** Every page in one file. */
  llmsFull(): string {
    const { baseUrl } = this.description.setting;
    return [
      introduction(baseUrl),
      ...[...this.guides, ...this.operations].map((leaf) =>
        `<!-- ${baseUrl}${leaf.path} -->\n\n${wholeMarkdown(leaf)}`
      ),
    ].join("\n");
  }

  #guideLeaf({ slug, label, summary, file, markdown }: Guide): Leaf {
    const { setting } = this.description;
    return {
      ...leafOf(
        `/docs/${slug}`,
        `/docs/${slug}.md`,
        label,
        () => rewriteLinks(markdown(setting), (href, text) => this.#shown(href, text, file)),
      ),
      summary,
    };
  }

  #operationLeaf(operation: Operation): Leaf {
    const { id, summary, tag, method, path } = operation;
    const page = `/docs/reference/${id}`;
    return {
      ...leafOf(
        page,
        `${page}.md`,
        summary,
        () => operationMarkdown(operation, this.description).main,
      ),
      tag,
      summary: `\`${method.toUpperCase()} ${path}\``,
      collapsed: () => ({
        title: "Errors that most routes share",
        markdown: operationMarkdown(operation, this.description).commonErrors,
      }),
    };
  }

  /** A link of a guide; those to pages that are left out here, and to files, lead nowhere. */
  #shown(href: string, text: string, file: string): { href: string; text: string } | null {
    const target = targetOf(href, file);
    if (target === null) return null;
    const [page = ""] = target.split("#");
    if (!page.startsWith("/docs/")) return { href: target, text };
    const leaf = this.find(page);
    if (leaf === undefined) return null;
    // Readers here know pages by their names, not files by theirs.
    return { href: target, text: /^[\w./-]+\.md$/.test(text) ? `the page ${leaf.label}` : text };
  }

  #index(): string {
    const item = ({ path, label, summary }: Leaf) => `- [${label}](${path}): ${summary}`;
    return `${introduction(this.description.setting.baseUrl, "Documentation")}
New here? [Start](/docs/start) sends a first message in a minute.

## Guides

${this.guides.map(item).join("\n")}

## Reference

- [All operations](/docs/reference): one page each, with examples
- [Try it here](/docs/try): every public route, with a key made in the browser
- [openapi.json](/openapi.json): the API as OpenAPI 3.1, for programs
- [The verifier](/verify): check a message in the browser, offline
`;
  }

  #referenceIndex(): string {
    const groups = this.#tags().map((tag) =>
      [
        `## ${tag}`,
        describeTag(tag, this.description.setting.mailOn),
        "| what | request |",
        "| --- | --- |",
      ].join("\n\n").replace("|\n\n|", "|\n|") + "\n" +
      this.#of(tag).map(({ path, label, summary }) => `| [${label}](${path}) | ${summary} |`)
        .join("\n")
    );
    return `# Reference

One page an operation, made from [openapi.json](/openapi.json). [Try it here](/docs/try) sends requests from
the browser. JSON in and out; times in RFC 3339 UTC with milliseconds; ids are integers below 2^53. Be ready
for fields that are added.

${groups.join("\n\n")}
`;
  }

  #tags(): Tag[] {
    return [...new Set(this.operations.map(({ tag }) => tag!))];
  }

  #of(tag: Tag): readonly Leaf[] {
    return this.operations.filter((leaf) => leaf.tag === tag);
  }
}

/** A page in Markdown with all of it. */
export function wholeMarkdown(leaf: Leaf): string {
  const collapsed = leaf.collapsed?.();
  return leaf.markdown() +
    (collapsed === undefined ? "" : `\n## ${collapsed.title}\n\n${collapsed.markdown}\n`);
}

function leafOf(path: string, source: string, label: string, markdown: () => string): Leaf {
  return { path, source, label, summary: "", markdown };
}

function linkTo({ path, label }: Leaf): DocsLink {
  return { href: path, label };
}

function anchorOf(tag: string): string {
  return tag.toLowerCase().replaceAll(" ", "-");
}

function introduction(baseUrl: string, title = "Agent Messaging Relay"): string {
  return `# ${title}

> A store-and-forward relay for messages between software agents, at ${baseUrl}. An agent is an Ed25519
> key pair: it registers itself, signs what it sends, and verifies what it receives offline.
`;
}
