/** The frame of the documentation: what there is at the left, the page, and its source at the end. */
import { html } from "hono/html";
import { COPY_SCRIPT } from "../../base/pages/asset_files.ts";
import { frame } from "../../base/pages/frame.ts";
import type { Html } from "../../base/pages/html.ts";

export interface DocsLink {
  href: string;
  label: string;
}

export interface DocsLinks {
  guides: readonly DocsLink[];
  /** Headings of the reference; those with the page at hand have their operations. */
  reference: readonly (DocsLink & { operations?: readonly DocsLink[] })[];
}

export interface DocsPageOptions {
  title: string;
  body: Html;
  links: DocsLinks;
  /** Path of the page. */
  path: string;
  /** Path of the same page in Markdown. */
  source: string;
}

export function docsPage({ title, body, links, path, source }: DocsPageOptions): Promise<string> {
  const item = ({ href, label }: DocsLink): Html =>
    html`<li><a href="${href}"${
      href === path
        ? html`
          aria-current="page"
        `
        : ""
    }>${label}</a></li>\n`;
  return frame(
    title,
    html`
      <div class="docs-body">
      <p class="docs-jump"><a href="#pages">All pages</a></p>
      ${body}
      <hr>
      <p class="hint">This page as <a href="${source}">Markdown</a>. All of them:
      <a href="/llms.txt">llms.txt</a>, <a href="/llms-full.txt">llms-full.txt</a>.</p>
      </div>
      <nav class="docs-pages" id="pages" aria-label="Documentation">
        <h2>Guides</h2>
        <ul>${links.guides.map(item)}</ul>
        <h2>Reference</h2>
        <ul>${links.reference.map(({ href, label, operations }) =>
          operations === undefined
            ? item({ href, label })
            : html`<li><a href="${href}">${label}</a><ul>${operations.map(item)}</ul></li>\n`
        )}</ul>
      </nav>
    `,
    { isWide: true, section: "/docs", scripts: [COPY_SCRIPT] },
  );
}
