import assert from "node:assert/strict";
import { textOfHtml } from "./text_of_html.ts";

Deno.test("textOfHtml() keeps the words, line by line", () => {
  const html = `<!DOCTYPE html><html><head><title>t</title><style>p { x }</style></head>
<body><p>It is <b>123456</b>,
  or &lt;b&gt; &amp;&#33;</p><ul><li>one</li><li>two<br>three</li></ul><!-- note -->
<script>alert(1)</script><p>end</p></body></html>`;
  assert.equal(textOfHtml(html), "It is 123456, or <b> &!\none\ntwo\nthree\nend");
});

Deno.test("textOfHtml() reads what is no HTML without failing, in linear time", () => {
  assert.equal(textOfHtml("a < b > c"), "a c");
  assert.equal(
    textOfHtml("&constructor; &#99999999; &#1114112;"),
    "&constructor; &#99999999; &#1114112;",
  );
  assert.equal(textOfHtml("<script>never closed"), "");
  assert.equal(textOfHtml("<p"), "");
  for (const part of ["<", "<!--", "<a ", "<style>", "&amp", " ", "<p>\n"]) {
    const startMs = performance.now();
    textOfHtml(part.repeat(100_000));
    assert.ok(performance.now() - startMs < 2_000, part);
  }
});
