/** Every way of hiding text, each with neighbours that are seen. */
import assert from "node:assert/strict";
import { HOSTILE_HTML } from "../../../tests/support/hostile_html.ts";
import { htmlToText } from "./html_text.ts";

const ATTACKED_BYTES = 58_600;

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
  const { text, hiddenRemoved } = htmlToText("a&#x200b;&#x200b;b");
  assert.deepEqual([text, hiddenRemoved], ["ab", true]);
});

Deno.test("htmlToText() judges by inline styles alone once its steps are spent, and says so", () => {
  const complex = HOSTILE_HTML["long values of every property"]!(ATTACKED_BYTES);
  const html = complex.replace("<style>", "<style>.late{display:none}") +
    '<p class="late">by a rule</p><p style="display:none">by itself</p>end';
  const { text, hiddenRemoved, isTooComplex } = htmlToText(html);
  assert.ok(isTooComplex);
  assert.ok(hiddenRemoved);
  assert.deepEqual(text.split(/\s+/).slice(-4), ["by", "a", "rule", "end"]);
  assert.equal(htmlToText("<style>p{display:none}</style><p>x").isTooComplex, false);
});

Deno.test("htmlToText() knows selectors of escapes, and is done with those that match nothing", () => {
  const rules = ".\\61 b{top:0}.a\\:b{display:none}.\\c\\d{display:none}";
  assert.equal(htmlToText(`<style>${rules}</style><p class="a:b">no</p>yes`).text, "yes");
  const endless = htmlToText(`<style>.${"\\a".repeat(1_000)}:x{top:0}</style>x`);
  assert.equal(endless.text, "x");
});
