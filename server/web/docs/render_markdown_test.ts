import assert from "node:assert/strict";
import { renderMarkdown } from "./render_markdown.ts";

const render = (markdown: string) => {
  const { title, html } = renderMarkdown(markdown);
  return { title, html: String(html) };
};

Deno.test("renderMarkdown() gives the first heading as the title, others with anchors as code hosts make them", () => {
  const { title, html } = render("# The `A` page\n\n## Two words\n\n## Two words\n\n### A & B?\n");
  assert.equal(title, "The A page");
  assert.equal(
    html,
    '<h2 id="two-words">Two words</h2>\n<h2 id="two-words-1">Two words</h2>\n' +
      '<h3 id="a--b">A &amp; B?</h3>\n',
  );
});

Deno.test("renderMarkdown() makes links of what was written as one alone", () => {
  assert.equal(
    render("[a](/x#y) https://example.org a@example.org").html,
    '<p><a href="/x#y">a</a> https://example.org a@example.org</p>\n',
  );
});

Deno.test("renderMarkdown() shows HTML and code as text, and leaves out comments and pictures", () => {
  const { html } = render(
    '<!-- note -->\n\na <b onclick=x>c</b>\n\n<script>alert(1)</script>\n\n![<p>](x.png)\n\n```js\nif (a < b) "&"\n```\n',
  );
  assert.doesNotMatch(html, /<b|<script|<img|note/);
  assert.match(html, /a &#60;b onclick=x&#62;c&#60;\/b&#62;/);
  assert.match(
    html,
    /<pre tabindex="0"><code class="language-js">if \(a &#60; b\) &#34;&#38;&#34;<\/code><\/pre>/,
  );
});

Deno.test("renderMarkdown() has tables scroll under names of their own, without empty headings", () => {
  const { html } = render(
    "## Kinds\n\n| | what |\n|---|---:|\n| `a` | b |\n\n| | |\n|---|---|\n| c | d |\n",
  );
  const names = [...html.matchAll(/role="region" aria-label="([^"]*)"/g)].map(([, name]) => name);
  assert.deepEqual(names, ["Kinds", "Kinds (2)"]);
  assert.equal(html.match(/<thead>/g)!.length, 1);
  assert.doesNotMatch(html, /<th[^>]*><\/th>/);
  assert.match(html, /<td align="right">b<\/td>/);
});
