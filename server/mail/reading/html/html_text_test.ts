import assert from "node:assert/strict";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import { extractText } from "../text/extracted_text.ts";
import { htmlToText } from "./html_text.ts";
import { toEnd } from "../../../base/slices/sliced.ts";

const textOf = (html: string) => htmlToText(html).text;

Deno.test("htmlToText() keeps the words, line by line", () => {
  const html = `<!DOCTYPE html><html><head><title>t</title><style>p { x }</style></head>
<body><p>It is <b>123456</b>,
  or &lt;b&gt;&nbsp;&amp;&#33;</p><!-- note --><div>one</div><div>two<br>three<br><br><br>four</div>
<script>alert("<p>")</script><template>t<template>u</template>v</template><h1>Head</h1>end
<noscript>no script</noscript><textarea>
 a
 b</textarea><iframe>none</iframe></body></html>`;
  assert.equal(
    textOf(html),
    "It is 123456, or <b> &!\n\none\ntwo\nthree\n\nfour\n\nHead\n\nend no script a\n b",
  );
});

Deno.test("htmlToText() lays out lists, tables, quotes and preformatted text", () => {
  assert.equal(
    textOf(
      `<p>Buy:<ul><li>tea<li>milk<ol start=3><li>full<li value=7>half</ol><li><p>oats</ul>Bye`,
    ),
    "Buy:\n\n- tea\n- milk\n  3. full\n  7. half\n- oats\n\nBye",
  );
  assert.equal(
    textOf(`<table><tr><th>Name<th>Sum<tr><td><p>Tea</p><td><p>3</p></table>
<table><tr><td>left<br>below<td>right</table>after`),
    "Name\tSum\n\nTea\t3\n\nleft\nbelow\nright\nafter",
  );
  assert.equal(
    textOf("<div>Ann wrote:<blockquote>one<blockquote>two</blockquote></blockquote></div>"),
    "Ann wrote:\n\n> one\n\n> > two",
  );
  assert.equal(textOf("<pre>\n a  b\n\n\n\tc</pre>d"), " a  b\n\n\n\tc\n\nd");
  assert.equal(
    textOf(`<span style="display:block">a</span><div style="display:inline">b</div>c`),
    "a\nbc",
  );
  assert.equal(textOf(`soft&shy;ware<wbr>s`), "softwares");
});

Deno.test("htmlToText() writes links as text [url], and pictures as their alt", () => {
  const { text, links } = htmlToText(
    `<a href="https://a.test/?x=1&amp;y=2">Click <b>here</b></a>, <a href=' https://b.te
st/ '>https://b.test/</a>, <a href="https://c.test"><img alt="Shop" src=x></a>
<a href="https://d.test"><img src=x></a><a href="https://e.test"></a><a href=HTTP://f.test>f
<a href=https://g.test><div>block</div></a> <img alt="Cat"><img> <a name=x>anchor</a>
<a href="javascript:alert(1)">js</a> <a href="data:text/html,x">data</a>
<a href="mailto:a@b.test">mail</a> <a href="/rel">rel</a> <a href="https://[">bad</a>`,
  );
  assert.equal(
    text,
    "Click here [https://a.test/?x=1&y=2], https://b.test/, Shop [https://c.test] " +
      "[https://d.test]f [HTTP://f.test]\nblock [https://g.test]\nCat anchor js data mail rel bad",
  );
  assert.deepEqual(links, [
    { url: "https://a.test/?x=1&y=2", text: "Click here" },
    { url: "https://b.test/", text: "https://b.test/" },
    { url: "https://c.test", text: "Shop" },
    { url: "https://d.test", text: "" },
    { url: "HTTP://f.test", text: "f" },
    { url: "https://g.test", text: "block" },
  ]);
});

Deno.test("htmlToText() tells of 50 links that are seen, each once", () => {
  const many = Array.from({ length: 60 }, (_, i) => `<a href="https://a.test/${i}">x</a>`).join(
    " ",
  );
  assert.equal(htmlToText(many).links.length, 50);
  const { text, links } = htmlToText(
    `<div hidden><a href=https://h.test>h</a></div><a href=https://i.test><b hidden>i</b></a>
<a href=https://s.test>s</a> <a href=https://s.test>s</a>`,
  );
  assert.deepEqual(links, [{ url: "https://s.test", text: "s" }]);
  assert.equal(text, "s [https://s.test] s [https://s.test]");
});

Deno.test("htmlToText() reads everything, and its text is no longer than what was given allows", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ..."display:none visibility:hidden opacity:0 font-size:0 color:#fff".split(" ")
        .map((style) => `<b style="${style}">`),
      ..."<p> </p> <table> <tr> <td> </td> </table> <a href=https://a.test> </a> <b> </b> <li> <ul> </ul>"
        .split(" "),
      ..."<svg/> <template> </template> <head> </head> <style> </style> <form> </form> <pre> &amp;"
        .split(" "),
    ),
    fc.string(),
  );
  fc.assert(fc.property(fc.array(piece), (pieces) => {
    const html = pieces.join("");
    const { text, links } = htmlToText(html);
    assert.ok(text.length <= html.length + 64 * 1024);
    assert.ok(links.length <= 50);
    assert.deepEqual(htmlToText(html), htmlToText(html));
  }));
});

/** Answers as mail programs write them in HTML. */
const ANSWERS: Readonly<Record<string, string>> = {
  "Gmail":
    `<div dir="ltr">Sure.<div><br></div></div><br><div class="gmail_quote"><div class="gmail_attr">On Fri,
May 3, 2024 at 10:12 AM Ann &lt;<a href="mailto:ann@a.test">ann@a.test</a>&gt; wrote:<br></div>
<blockquote class="gmail_quote"><div>Does it?</div></blockquote></div>`,
  "Outlook, web":
    `<div>Sure.</div><div id="appendonsend"></div><hr><div id="divRplyFwdMsg"><font><b>From:</b> Ann
&lt;ann@a.test&gt;<br><b>Sent:</b> Friday<br><b>To:</b> Bo<br><b>Subject:</b> x</font></div>Does it?`,
  "Apple Mail": `<body>Sure.<br><div><br><blockquote type="cite"><div>On 3. May 2024, at 10:12, Ann
&lt;ann@a.test&gt; wrote:</div><br><div>Does it?</div></blockquote></div></body>`,
};

Deno.test("htmlToText() writes quotes as extractText() finds them", () => {
  const programs = Object.keys(ANSWERS);
  assert.deepEqual(
    programs.map((program) => {
      const { text, quotes } = htmlToText(ANSWERS[program]!);
      return toEnd(extractText(text, { kind: "reply", quotes })).text;
    }),
    programs.map(() => "Sure."),
  );
});
