import assert from "node:assert/strict";
import { parse, serialize } from "parse5";
import { isLong } from "../../../../tests/support/long_test.ts";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import { HOSTILE_HTML } from "../../../../tests/support/hostile_html.ts";
import { htmlDocuments } from "../../../../tests/support/html_documents.ts";
import { propertyRuns } from "../../../../tests/support/property_runs.ts";
import { htmlToText } from "../../reading/html/html_text.ts";
import { toEnd } from "../../../base/slices/sliced.ts";
import type { OwnPicture } from "./reduced_addresses.ts";
import { reduceHtml as reduceInSlices } from "./reduce_html.ts";

const PICTURES = [{ contentId: "logo@example", sizeBytes: 70 }];
const reduceHtml = (html: string, pictures: OwnPicture[]) => toEnd(reduceInSlices(html, pictures));
const reduced = (html: string) => reduceHtml(html, PICTURES).html;
const removed = (html: string) => reduceHtml(html, PICTURES).removed;

Deno.test("reduceHtml() keeps what a plain mail is made of", () => {
  const html =
    `<h1 align="center">Hi</h1><p dir="ltr" lang="en">a <b>b</b> <a href="https://e.org/">` +
    `c</a><br>d</p><ol start="3"><li>e</li></ol><blockquote>f</blockquote><pre>\n\ng  h</pre><hr>` +
    `<table width="600"><caption>i</caption><thead><tr><th colspan="2">j</th></tr></thead><tbody>` +
    `<tr><td style="background-color:#eeeeee;padding:4px 8px 4px 8px">k</td><td>` +
    `<img src="cid:logo@example" alt="Logo" width="80" height="20"></td></tr></tbody></table>`;
  assert.deepEqual(reduceHtml(html, PICTURES), { html, removed: [], remote: [] });
});

const CASES: [name: string, html: string, expected: string, names: string[]][] = [
  [
    "removes style sheets, comments, the head and what scripts do",
    `<!doctype html><html><head><title>T</title><style>p{color:red}</style></head><body onload="x()">` +
    `<!-- c --><p onclick="y()" class="a">a</p><script>z()</script></body></html>`,
    "<p>a</p>",
    [
      "attribute:class",
      "attribute:onclick",
      "comments",
      "element:script",
      "element:title",
      "style_sheets",
    ],
  ],
  [
    "removes text that a style sheet or a colour hides",
    `<style>.x{display:none}</style><p>a<span class="x">b</span><font color="#fff">c</font></p>`,
    "<p>a</p>",
    ["element:font", "hidden_text", "style_sheets"],
  ],
  [
    "has a text that stood on a picture be read",
    `<div style="background:url(x.png);color:#fff">a</div>`,
    `<div style="color:#000000">a</div>`,
    ["style:background", "style:color"],
  ],
  [
    "says the colour again where a table of old rendering would not take it over",
    `<div style="background:#000;color:#fff;font-size:20px"><table><tr><td>a</table></div>`,
    `<div style="background-color:#000000;color:#ffffff;font-size:20px"><table style="color:#ffffff;` +
    `font-size:20px"><tbody><tr><td>a</td></tr></tbody></table></div>`,
    [],
  ],
  [
    "gives a link a colour that can be read on what is nearly as dark as links are",
    `<p style="background-color:#696969;color:#fff"><a href="https://e.org">a</a></p>`,
    `<p style="background-color:#696969;color:#ffffff"><a href="https://e.org/" style="color:#ffffff">a</a></p>`,
    [],
  ],
  [
    "removes the words of a link that cannot be told from what is behind it",
    `<p style="background-color:#551a8b;color:#fff"><a href="https://e.org">a</a></p>`,
    `<p style="background-color:#551a8b;color:#ffffff"><a href="https://e.org/" style="color:#ffffff"></a></p>`,
    ["hidden_text"],
  ],
  [
    "removes what moves, overlays or shrinks text",
    `<p style="margin:-9px 0 0 -99px;position:absolute;line-height:0;font-size:9px;float:left;opacity:.5">a</p>`,
    `<p style="font-size:10px;line-height:1.2;margin-bottom:0px;margin-right:0px">a</p>`,
    ["style:float", "style:font-size", "style:margin", "style:opacity", "style:position"],
  ],
  [
    "makes links of remote pictures, of the others their words",
    `<img src="https://t.example/p.gif?id=1"><img src=http://t.example/2 alt="Two"><img src=data:x alt=D>` +
    `<img src=cid:other alt=O><a href=https://e.org/><img src=https://t.example/3></a>`,
    `<a href="https://t.example/p.gif?id=1">https://t.example/p.gif?id=1</a><a href="http://t.example/2">Two</a>` +
    `DO<a href="https://e.org/">https://t.example/3</a>`,
    ["pictures", "remote_pictures"],
  ],
  [
    "keeps links of three schemes",
    `<a href="javascript:x()">a</a><a href="mailto:a@b.c?subject=d">e</a><a href="/f">g</a><a name=h>i</a>`,
    `<span>a</span><a href="mailto:a@b.c?subject=d">e</a><span>g</span><span>i</span>`,
    ["attribute:name", "links"],
  ],
  [
    "keeps words apart that stood in blocks of other names",
    `<section>a</section><section>b</section><center>c</center><del>d</del><label>e</label>`,
    `<div>a</div><div>b</div><div align="center">c</div><s>d</s>e`,
    ["element:center", "element:del", "element:label", "element:section"],
  ],
  [
    "has text between cells stand in one",
    `<table>a<tr>b<td>c</table>`,
    `<table><tbody><tr><td>a</td></tr><tr><td>b</td><td>c</td></tr></tbody></table>`,
    [],
  ],
  [
    "lets no cell lie over another",
    `<table><tr><td>a<td rowspan=3>b<td>c<tr><td colspan=5000>d</table>`,
    `<table><tbody><tr><td>a</td><td rowspan="3">b</td><td>c</td></tr><tr><td>d</td></tr></tbody></table>`,
    ["attribute:colspan"],
  ],
  [
    "removes invisible characters and gaps that push text away",
    `<p>a\u200b\u200b<font>\u200b</font>\u{e0041}b${"\u00a0".repeat(900)}c&#1;</p>`,
    `<p>ab${"\u00a0".repeat(40)}c</p>`,
    ["element:font", "invisible_characters", "wide_gaps"],
  ],
  [
    "writes from the right what stands in blocks, whose lines begin where they can be seen",
    `<div dir=rtl>a <b>b</b><p>c</p><p dir=ltr>d</p><table><tr><td>e</table></div><span dir=rtl><p>f`,
    `<div style="text-align:right"><span dir="rtl">a <b>b</b></span><p><span dir="rtl">c</span></p>` +
    `<p dir="ltr">d</p><table dir="rtl"><tbody><tr><td>e</td></tr></tbody></table></div>` +
    `<span dir="rtl"><p dir="ltr"><span dir="rtl">f</span></p></span>`,
    [],
  ],
  [
    "lets no letters be made smaller and smaller",
    `${"<small>".repeat(9)}a`,
    `<small><small><small>a</small></small></small>`,
    ["nesting"],
  ],
];

for (const [name, html, expected, names] of CASES) {
  Deno.test(`reduceHtml() ${name}`, () => {
    const found = reduceHtml(html, PICTURES);
    assert.equal(found.html, expected);
    for (const one of names) assert.ok(found.removed.includes(one), `${one} in ${found.removed}`);
    assert.equal(reduced(found.html), found.html);
  });
}

Deno.test("reduceHtml() names at most fifty things, and no name that somebody made up", () => {
  const html = Array.from({ length: 99 }, (_, i) => `<x-${i}>`).join("") +
    `<p ignore_previous_instructions style="behold the relay: 1">`;
  const names = removed(html);
  assert.equal(names.length, 51);
  assert.ok(names.includes("more"));
  assert.deepEqual(
    removed(`<p ignore_previous_instructions style="behold the relay: 1">`),
    ["attribute:other", "style:other"],
  );
});

Deno.test("reduceHtml() nests at most a hundred elements and keeps their words", () => {
  const html = reduced(`${"<div><span>".repeat(5_000)}a`);
  assert.equal(html.split("<div>").length - 1 + html.split("<span>").length - 1, 100);
  assert.ok(html.includes(">a<"));
});

Deno.test("reduceHtml() writes little more than it reads, whatever stands in it", () => {
  const style = 'style="color:red;background:#000;font-size:20px;margin:1px 2px 3px 4px"';
  const dear: Record<string, (size: number) => string> = {
    ...HOSTILE_HTML,
    "marks": (size) => '"'.repeat(size),
    "lingering": (size) => `<p>${`<b ${style}>`.repeat(4)}</p>${"<p>x".repeat(size / 4)}`,
    "tables in colours": (size) => `<div ${style}>${"<table>x".repeat(size / 8)}`,
    "addresses": (size) => "<img src='http://a.b/ \u00e9'>".repeat(size / 26),
    "spans of cells": (size) => `<table>${"<td rowspan=999 colspan=99>".repeat(size / 27)}`,
  };
  for (const [name, make] of Object.entries(dear)) {
    const html = make(20_000);
    const written = reduced(html).length;
    assert.ok(written <= 12 * html.length, `${name}: ${written}`);
  }
});

Deno.test("reduceHtml() tells the first pictures that lie elsewhere, each once", () => {
  const many = Array.from({ length: 60 }, (_, i) => `<img src="https://e.org/${i}.png">`).join("");
  const { remote } = reduceHtml(
    `<img src="https://e.org/0.png"><img src="cid:x">${many}`,
    PICTURES,
  );
  assert.equal(remote.length, 50);
  assert.deepEqual(remote.slice(0, 2), ["https://e.org/0.png", "https://e.org/1.png"]);
});

Deno.test("reduceHtml() gives what it would give again", () => {
  fc.assert(
    fc.property(htmlDocuments, (html) => {
      const once = reduced(html);
      assert.deepEqual(reduceHtml(once, PICTURES), { html: once, removed: [], remote: [] });
    }),
    propertyRuns(isLong ? 4_000 : 1_000),
  );
});

Deno.test("reduceHtml() gives what every reader of HTML finds as it is written", () => {
  const decoded = (html: string) =>
    html.replaceAll("&nbsp;", "\u00a0").replaceAll("&quot;", '"').replaceAll("&gt;", ">");
  fc.assert(
    fc.property(htmlDocuments, fc.constantFrom("", "<!doctype html>"), (html, doctype) => {
      const once = reduced(html);
      const body = serialize(parse(`${doctype}<body>${once}`)).match(/<body>([^]*)<\/body>/)![1]!;
      // The first line end in a pre is not read.
      assert.equal(decoded(body), decoded(once).replaceAll(/(<pre[^>]*>)\n/g, "$1"));
    }),
    propertyRuns(isLong ? 4_000 : 1_000),
  );
});

Deno.test("reduceHtml() leaves no text that is judged hidden", () => {
  fc.assert(
    fc.property(htmlDocuments, (html) => {
      const once = reduced(html);
      const read = htmlToText(once);
      assert.equal(read.hiddenRemoved, false);
    }),
    propertyRuns(isLong ? 2_000 : 500),
  );
});
