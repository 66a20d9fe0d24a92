/** Documents as HTML for pages: headings with anchors, tables that scroll. */
import { raw } from "hono/html";
import { Marked, Renderer, type Tokens } from "marked";
import type { Html } from "../../base/pages/elements.ts";

export interface RenderedDocument {
  /** Text of the first heading, which the page's frame shows; "" without one. */
  title: string;
  html: Html;
}

/** @param markdown of this project: raw HTML in it is shown as text */
export function renderMarkdown(markdown: string): RenderedDocument {
  let title = "";
  let section = "";
  const anchors = new Set<string>();
  const labels = new Map<string, number>();
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const inner = this.parser.parseInline(tokens);
        if (depth === 1 && title === "") {
          title = plain(text);
          return "";
        }
        section = plain(text);
        const anchor = anchorOf(text, anchors);
        return `<h${depth} id="${anchor}">${inner}</h${depth}>\n`;
      },
      code({ text, lang = "" }: Tokens.Code): string {
        const [language = ""] = lang.split(" ");
        const kind = language === "" ? "" : ` class="language-${escape(language)}"`;
        return `<pre tabindex="0"><code${kind}>${escape(text)}</code></pre>\n`;
      },
      link({ href, tokens, raw: written }: Tokens.Link): string {
        const inner = this.parser.parseInline(tokens);
        // Addresses in running text are examples, and lead nowhere.
        return written.startsWith("[") ? `<a href="${escape(href)}">${inner}</a>` : inner;
      },
      image({ text }: Tokens.Image): string {
        return escape(text);
      },
      html({ text }: Tokens.HTML | Tokens.Tag): string {
        return /^<!--[^]*-->\s*$/.test(text) ? "" : escape(text);
      },
      table(token: Tokens.Table): string {
        const name = section || "Table";
        const count = (labels.get(name) ?? 0) + 1;
        labels.set(name, count);
        const label = escape(count === 1 ? name : `${name} (${count})`);
        const table = Renderer.prototype.table.call(this, token)
          .replace(/<th[^>]*>\s*<\/th>/g, "<td></td>")
          .replace(/<thead>\s*<tr>(?:\s*<td><\/td>)+\s*<\/tr>\s*<\/thead>\s*/, "");
        return `<div class="scroll" tabindex="0" role="region" aria-label="${label}">${table}</div>\n`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { title, html: raw(html) };
}

/** Anchors as code hosts make them: lower case, punctuation gone, spaces as hyphens. */
function anchorOf(heading: string, taken: Set<string>): string {
  const base = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
  let anchor = base;
  for (let number = 1; taken.has(anchor); number++) anchor = `${base}-${number}`;
  taken.add(anchor);
  return anchor;
}

/** The words of a heading without its marks. */
function plain(heading: string): string {
  return heading.replace(/[`*]/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}
