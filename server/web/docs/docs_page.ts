/** A page of the documentation: what there is at the left, the page, and its source at the end. */
import { html } from "hono/html";
import type { Tag } from "../../base/description/operation.ts";
import { COPY_SCRIPT } from "../../base/pages/asset_files.ts";
import type { Html } from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";
import { renderMarkdown } from "./render_markdown.ts";

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

export type DocsLink = Pick<Leaf, "path" | "label">;

export interface DocsLinks {
  guides: readonly DocsLink[];
  /** Headings of the reference; the one with the page at hand has its operations. */
  reference: readonly (DocsLink & { operations?: readonly DocsLink[] })[];
}

export function docsPage(leaf: Leaf, { guides, reference }: DocsLinks): Promise<string> {
  const { title, html: body } = renderMarkdown(leaf.markdown());
  const collapsed = leaf.collapsed?.();
  const item = ({ path, label }: DocsLink): Html =>
    // deno-fmt-ignore
    html`<li><a href="${path}"${path === leaf.path ? html` aria-current="page"` : ""}>${label}</a></li>\n`;
  // deno-fmt-ignore
  const more = collapsed === undefined ? "" : html`<details><summary>${collapsed.title}</summary>
${renderMarkdown(collapsed.markdown).html}</details>`;
  return frame(
    title || leaf.label,
    html`
      <div class="docs-body">
      <p class="docs-jump"><a href="#pages">All pages</a></p>
      ${body}${more}
      <hr>
      <p class="hint">This page as <a href="${leaf.source}">Markdown</a>. All of them:
      <a href="/llms.txt">llms.txt</a>, <a href="/llms-full.txt">llms-full.txt</a>.</p>
      </div>
      <nav class="docs-pages" id="pages" aria-label="Documentation">
        <h2>Guides</h2>
        <ul>${guides.map(item)}</ul>
        <h2>Reference</h2>
        <ul>${reference.map(({ path, label, operations }) =>
          operations === undefined
            ? item({ path, label })
            : html`<li><a href="${path}">${label}</a><ul>${operations.map(item)}</ul></li>\n`
        )}</ul>
      </nav>
    `,
    { isWide: true, section: "/docs", scripts: [COPY_SCRIPT] },
  );
}
