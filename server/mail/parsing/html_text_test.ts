import assert from "node:assert/strict";
import fc from "../../../tests/support/seeded_fast_check.ts";
import { extractText } from "./extracted_text.ts";
import { htmlToText } from "./html_text.ts";

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

/** What hides the word SECRET in an element; none of it hides the words beside it. */
const HIDING: readonly string[] = [
  "display:none",
  "DISPLAY : None !important",
  "display:none;display:nonsense",
  "d\\69splay:none",
  "/* x */display/* y */:/* z */none",
  "visibility:hidden",
  "visibility:collapse",
  "opacity:0",
  "opacity:.05",
  "opacity:5%",
  "font-size:0",
  "font-size:1px",
  "font-size:0.5px",
  "font-size:0em",
  "font-size:0.05em",
  "font-size:5%",
  "font-size:.7pt",
  "font:0/0 a",
  "font:bold 1px Arial",
  "height:0;overflow:hidden",
  "width:0px;overflow:hidden",
  "max-height:0;overflow:hidden",
  "max-width:0;overflow-x:hidden",
  "text-indent:-999px",
  "text-indent:-9999em",
  "position:absolute;left:-9999px",
  "position:absolute;top:-999px",
  "position:absolute;right:-1000px",
  "position:fixed;bottom:-20in",
  "margin-left:-9999px",
  "margin:0 0 0 -9999px",
  "transform:translateX(-9999px)",
  "transform:scale(0)",
  "clip:rect(0,0,0,0);position:absolute",
  "clip:rect(1px 1px 1px 1px)",
  "clip-path:inset(50%)",
  "clip-path:inset(100%)",
  "clip-path:inset(0 0 100% 0)",
  "clip-path:circle(0)",
  "clip-path:polygon(0 0, 0 0, 0 0)",
  "mso-hide:all",
  "color:#fff",
  "color:#FFFFFF",
  "color:white",
  "color:rgb(255,255,255)",
  "color:rgb(100% 100% 100%)",
  "color:rgba(255,255,255,.5)",
  "color:hsl(0,0%,100%)",
  "color:transparent",
  "color:rgba(0,0,0,0)",
  "color:#0000",
  "background:#123456;color:#123456",
  "background-color:navy;color:#000080",
  "background:url(x.png) red;color:#f00",
];

/** What only looks like it. */
const SEEN: readonly string[] = [
  "display:block",
  "display:none;display:inline",
  "visibility:visible",
  "opacity:.06",
  "font-size:1.1px",
  "font-size:1pt",
  "font-size:calc(0px)",
  "font:400 12px/0 a",
  "height:0",
  "overflow:hidden",
  "height:1px;overflow:hidden",
  "text-indent:-998px",
  "left:-998px",
  "left:9999px",
  "clip:auto",
  "clip:rect(0,10px,10px,0)",
  "clip-path:inset(10%)",
  "mso-hide:none",
  "color:#fffffe",
  "color:#000",
  "background:#000;color:#fff",
  "background:url(x.png);color:#fff",
  "background:linear-gradient(#000,#111);color:#fff",
  "content:'display:none'",
  "color:nonsense",
];

const beside = (element: string) => `<p>before</p>${element}<p>after</p>`;

Deno.test("htmlToText() removes and reports what inline styles hide", () => {
  const wrong = HIDING.filter((style) => {
    const { text, hiddenRemoved } = htmlToText(beside(`<div style="${style}">SECRET</div>`));
    return text !== "before\n\nafter" || !hiddenRemoved;
  });
  assert.deepEqual(wrong, []);
});

Deno.test("htmlToText() removes and reports what simple selectors hide", () => {
  const selectors = [".x", "#y", "div", "div.x", "DIV#y", "h6, .x", "*.x", "\\.x, #y"];
  const wrong = HIDING.flatMap((style) =>
    selectors.map((selector) => `<style>a{b:c} ${selector} { ${style} }</style>`)
  ).filter((sheet) => {
    const html = beside(`<div class="w x" id=y>SECRET</div>`);
    const found = [htmlToText(sheet + html), htmlToText(html + sheet)];
    return found.some(({ text, hiddenRemoved }) => text !== "before\n\nafter" || !hiddenRemoved);
  });
  assert.deepEqual(wrong, []);
});

Deno.test("htmlToText() keeps what is seen", () => {
  const wrong = SEEN.filter((style) => {
    const { text, hiddenRemoved } = htmlToText(beside(`<div style="${style}">seen</div>`));
    return !text.includes("seen") || hiddenRemoved;
  });
  assert.deepEqual(wrong, []);
});

const SECRETS: Readonly<Record<string, string>> = {
  "hidden attribute": "<div hidden>SECRET</div>",
  "hidden with a value": '<div hidden="false">SECRET</div>',
  "inside of what is hidden": '<div style="display:none"><p style="display:block">SECRET</p></div>',
  "alt of a hidden picture": '<img style="display:none" alt="SECRET">',
  "background of the cell": '<table bgcolor="#000"><tr><td style="color:#000">SECRET</table>',
  "background by attribute":
    '<table><tr><td bgcolor=red><font color="#FF0000">SECRET</font></table>',
  "background without #": "<table><tr><td bgcolor=ff0000><font color=ff0000>SECRET</font></table>",
  "inherited background": '<div style="background:#222"><b style="color:#222">SECRET</b></div>',
  "inherited colour": '<div style="color:#fff"><b><i>SECRET</i></b></div>',
  "link in white": '<a href=https://a.test style="color:#fff">SECRET</a>',
  "small in small": '<div style="font-size:4px"><b style="font-size:.2em">SECRET</b></div>',
  "opacity of both": '<div style="opacity:.2"><b style="opacity:.2">SECRET</b></div>',
  "zero width by attribute": '<table><tr><td width=0 style="overflow:hidden">SECRET</table>',
  "wrong nesting of formatting": '<p><font style="display:none">SECRET<p>SECRET</font></p>',
  "wrong nesting over cells":
    '<p><font style="display:none"></p><table><tr><td></table><p>SECRET</font></p>',
  "an end tag of nothing": '<span><div style="display:none"></span>SECRET</div>',
  "an end tag from outside":
    '<table><tr><td><div style="display:none"></tr2></b></p>SECRET</div></table>',
  "an end tag of formatting": '<b><div style="display:none"></b>SECRET</div>',
  "an end tag of a form": '<form><div style="display:none"></form>SECRET</div>',
  "an item in a section": "<ul><li><section hidden><li>SECRET</li></section></ul>",
  "important": '<style>.s{display:none!important}</style><p class=s style="display:block">SECRET',
  "specificity":
    "<style>#i{display:none} p{display:block} .c{display:block}</style><p id=i class=c>SECRET",
  "order": "<style>.c{display:block}.d{display:none}</style><p class='d c'>SECRET",
  "a sheet that nobody closed": "<p class=c>SECRET</p><style>.c{display:none;",
  "a sheet behind a broken one": "<style>.b{x:'\n}.c{display:none}</style><p class=c>SECRET",
  "a selector beside others": "<style>a > b, .c, [x]{display:none}</style><p class=c>SECRET",
  "an at-rule before":
    "<style>@import 'x;';@media print{.b{x:y}}.c{display:none}</style><p class=c>SECRET",
};

Deno.test("htmlToText() removes what is hidden in other ways", () => {
  const wrong = Object.entries(SECRETS).map(([way, html]) =>
    [way, htmlToText(beside(html))] as const
  )
    .filter(([, { text, hiddenRemoved }]) =>
      text.includes("SECRET") || !text.includes("before") || !hiddenRemoved
    );
  assert.deepEqual(wrong, []);
  const after = Object.entries(SECRETS).filter(([way]) => !/nobody closed/.test(way))
    .filter(([, html]) => !htmlToText(`${html}</section></ul><p>after</p>`).text.includes("after"));
  assert.deepEqual(after, []);
});

const VISIBLE: Readonly<Record<string, string>> = {
  "seen again": '<div style="visibility:hidden"><b style="visibility:visible">seen</b></div>',
  "large again": '<div style="font-size:0"><b style="font-size:14px">seen</b></div>',
  "small text of a picture": '<div style="font-size:0"><img alt="seen"></div>',
  "link on white": '<div style="color:#fff"><a href=https://a.test>seen</a></div>',
  "white on a dark cell": "<table bgcolor=navy><tr><td><font color=white>seen</font></table>",
  "white on a picture": '<table background="x.png"><tr><td style="color:#fff">seen</table>',
  "an item behind a hidden one": "<ul><li hidden><li>seen</ul>",
  "a paragraph behind a hidden one": "<p hidden><p>seen",
  "a cell behind a hidden one": "<table><tr><td hidden><td>seen</table>",
  "a row behind a hidden one": "<table><tr hidden><td><tr><td>seen</table>",
  "media": "<style>@media print{.c{display:none}}</style><p class=c>seen",
  "media of a sheet": "<style media=print>.c{display:none}</style><p class=c>seen",
  "sheet of another type": "<style type=text/x>.c{display:none}</style><p class=c>seen",
  "sheet in a comment": "<!--<style>.c{display:none}</style>--><p class=c>seen",
  "sheet in an attribute": '<p title="<style>.c{display:none}</style>" class=c>seen',
  "sheet in a template": "<template><style>.c{display:none}</style></template><p class=c>seen",
  "not a simple selector":
    "<style>.o .c, .o>.c, .c:hover, .c.d{display:none}</style><p class=c>seen",
  "inline wins": "<style>.c{display:none}</style><p class=c style='display:block'>seen",
  "later wins": "<style>.c{display:none}.c{display:block}</style><p class=c>seen",
  "case of classes": "<style>.C{display:none}</style><p class=c>seen",
  "background undone": '<p style="color:#fff;background:#000;background-color:navy">seen',
};

Deno.test("htmlToText() keeps what looks hidden in other ways", () => {
  const wrong = Object.entries(VISIBLE).map(([way, html]) => [way, htmlToText(html)] as const)
    .filter(([, { text, hiddenRemoved }]) => !text.includes("seen") || hiddenRemoved);
  assert.deepEqual(wrong, []);
});

Deno.test("htmlToText() reports letters alone, and characters that are invisible", () => {
  assert.equal(htmlToText("<p hidden>&nbsp;&zwnj; 12 ... \u3164\u115f</p>x").hiddenRemoved, false);
  assert.equal(htmlToText("<p hidden>é</p>x").hiddenRemoved, true);
  assert.deepEqual(htmlToText("a&#x200b;&#x200b;b"), {
    text: "ab",
    links: [],
    hiddenRemoved: true,
  });
});

Deno.test("htmlToText() reads everything, and its text is no longer than what was given allows", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...HIDING.slice(0, 5).map((style) => `<b style="${style}">`),
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
    programs.map((program) => extractText(textOf(ANSWERS[program]!))),
    programs.map(() => "Sure."),
  );
});
