// Over 300 lines: the list of what hides text is one, and is read as one.
/** Every way of hiding text, each with neighbours that are seen. */
import assert from "node:assert/strict";
import { HOSTILE_HTML } from "../../../../tests/support/hostile_html.ts";
import { htmlToText } from "../html/html_text.ts";

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
  "font-size:1.9px",
  "font-size:1pt",
  "font-size:0;font-size:nonsense",
  "font:0/0 a",
  "font:bold 1px Arial",
  "height:0;overflow:hidden",
  "width:0px;overflow:hidden",
  "max-height:0;overflow:hidden",
  "max-width:0;overflow-x:hidden",
  "height:1px;overflow:hidden",
  "width:1px;overflow:clip",
  "max-height:1px;overflow:auto",
  "height:0;padding:0;overflow:hidden",
  "text-indent:-999px",
  "text-indent:999px",
  "text-indent:99999px",
  "position:absolute;left:99999px",
  "position:relative;top:999px",
  "position:absolute;inset:-9999px auto auto -9999px",
  "margin-left:9999px",
  "transform:translate(9999px)",
  "translate:-9999px",
  "scale:0",
  "-webkit-transform:scale(0)",
  "-webkit-opacity:0",
  "-webkit-filter:opacity(0)",
  "-webkit-clip-path:inset(50%)",
  "block-size:0;overflow:hidden",
  "max-inline-size:0;overflow:hidden",
  "position:absolute;inset-inline-start:-9999px",
  "position:absolute;inset-block:-9999px auto",
  "margin-inline-start:-9999px",
  "margin-inline:-9999px 0",
  "content-visibility:hidden",
  "filter:opacity(0)",
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
  "position:fixed;clip:rect(1px 1px 1px 1px)",
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
  "color:#fffffe",
  "color:#ddd",
  "color:#fff;color:nonsense",
  "color:hwb(0 100% 0%)",
  "color:lab(100% 0 0)",
  "color:lch(99% 1 2)",
  "color:oklab(1 0 0)",
  "color:oklch(100% 0 0)",
  "color:canvas",
  "-webkit-text-fill-color:transparent",
  "color:#fff;-webkit-text-fill-color:currentcolor",
  "transform:scale(.1)",
  "scale:5%",
  "zoom:.05",
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
  "font-size:2px",
  "font-size:1.5pt",
  "font-size:calc(0px)",
  "font:400 12px/0 a",
  "height:0",
  "overflow:hidden",
  "height:2px;overflow:hidden",
  "width:100%;overflow:hidden",
  "height:0;padding-bottom:50px;overflow:hidden",
  "text-indent:-998px",
  "position:absolute;left:-998px",
  "left:9999px",
  "left:-9999px",
  "margin-right:9999px",
  "clip:rect(0,0,0,0)",
  "clip:auto",
  "clip:rect(0,10px,10px,0)",
  "clip-path:inset(10%)",
  "mso-hide:none",
  "color:#ccc",
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
  "inherited filling":
    '<div style="-webkit-text-fill-color:#fff"><b style="color:#000">SECRET</b></div>',
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
    "<style>.o .c, .o>.c, .c:hover, .c.d, p+.c, .c~.c{display:none}</style><p class=c>seen",
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

Deno.test("htmlToText() reports letters and digits, and characters that are invisible", () => {
  assert.equal(htmlToText("<p hidden>&nbsp;&zwnj; ... \u3164\u115f</p>x").hiddenRemoved, false);
  assert.equal(htmlToText("<p hidden>12</p>x").hiddenRemoved, true);
  assert.equal(htmlToText("<p hidden>é</p>x").hiddenRemoved, true);
  const { text, hiddenRemoved } = htmlToText("a&#x200b;&#x200b;b");
  assert.deepEqual([text, hiddenRemoved], ["ab", true]);
});

/** Selectors that select the one element with SECRET in AROUND, and no other. */
const SELECTORS: readonly string[] = [
  ".x.w",
  "div.x#y.w",
  ".o .x",
  ".o > .x",
  "body .x",
  "html > body > section > .x",
  "section div",
  ".o * .x, .o .x",
  "p + .x",
  "h1 ~ .x",
  ".o h1 ~ p + div.x",
  "[data-a]",
  "div[data-a=b]",
  "[data-a='b']",
  '[data-a="B" i]',
  "[data-c~=two]",
  "[data-d|=en]",
  "[data-c^=one]",
  "[data-c$=three]",
  "[data-c*='e tw']",
  "[class][id=y]",
  "div:not(.z)",
  ".o :is(div, h6)",
  ":where(.x, .z)",
  ".x:nth-child(3)",
  ".x:nth-child(2n+1)",
  "section > :nth-child( odd ):not(h1)",
  "\\.x , .o>.x",
];
const AROUND = `<section class=o><h1>before</h1><p>and</p><div class="w x" id=y data-a=b
data-c="one two three" data-d=en-US>SECRET</div><p>after</p></section>`;

Deno.test("htmlToText() judges selectors of what stands around, before and in an element", () => {
  const wrong = SELECTORS.filter((selector) => {
    const found = htmlToText(`<style>${selector}{display:none}</style>${AROUND}`);
    return found.text !== "before\n\nand\n\nafter" || !found.hiddenRemoved || found.isNotJudged;
  });
  assert.deepEqual(wrong, []);
});

Deno.test("htmlToText() lets selectors of other elements alone", () => {
  const others = [
    ".x.z",
    ".z .x",
    "body > .x",
    ".x > div",
    "h1 + .x",
    ".x + .x",
    ".x ~ div",
    "[data-z]",
    "[data-a=B]",
    "[data-c=two]",
    "div:not(.x)",
    ".x:first-child",
    ".x:nth-child(2n)",
    ".x:hover",
    "a:visited",
    ".x::selection",
    "template .x",
  ];
  const wrong = others.filter((selector) => {
    const found = htmlToText(`<style>${selector}{display:none}</style>${AROUND}`);
    return !found.text.includes("SECRET") || found.hiddenRemoved || found.isNotJudged;
  });
  assert.deepEqual(wrong, []);
});

Deno.test("htmlToText() weighs selectors as browsers do", () => {
  const seen = (css: string) =>
    htmlToText(`<style>${css}</style>${AROUND}`).text.includes("SECRET");
  assert.equal(seen(".o .x{display:block} .x{display:none}"), true);
  assert.equal(seen(".o .x{display:none} .x{display:block}"), false);
  assert.equal(seen("#y{display:block} .o .x.w[data-a]{display:none}"), true);
  assert.equal(seen(".o .x{display:none} section .x{display:block!important}"), true);
  assert.equal(seen(":where(.o .x){display:none}"), true);
  assert.equal(seen(".x{display:none} @media screen{.x{display:block}}"), true);
  const many = Array.from({ length: 12 }, () => ".x").join("");
  assert.equal(seen(`#y{display:block} ${many}{display:none}`), true);
});

Deno.test("htmlToText() reads the styles of media that a screen has", () => {
  const hides = (query: string) => {
    const { text, isNotJudged } = htmlToText(
      `<style>@media ${query}{p{x:y}.c{display:none}}</style><p>a<p class=c>SECRET`,
    );
    return isNotJudged ? "unsure" : text.includes("SECRET") ? "no" : "yes";
  };
  const wanted = {
    yes: [
      "screen",
      "all",
      "only screen",
      "print, screen",
      "screen and (min-width: 1px)",
      "(min-width:600px)",
      "not print",
      "screen and (max-width:9999px)",
      "(prefers-color-scheme: light)",
    ],
    no: [
      "print",
      "not screen",
      "only screen and (max-width: 600px)",
      "speech",
      "(prefers-color-scheme: dark)",
      "screen and (max-width:30em) and (orientation:portrait)",
    ],
    unsure: [
      "(min-width:1400px)",
      "(max-width:1200px)",
      "(-webkit-min-device-pixel-ratio:0)",
      "((x))",
    ],
  };
  for (const [how, queries] of Object.entries(wanted)) {
    for (const query of queries) assert.equal(hides(query), how, query);
  }
  const ofSheet = htmlToText(
    "<style media='only screen'>.c{display:none}</style><p class=c>SECRET",
  );
  assert.equal(ofSheet.text, "");
});

Deno.test("htmlToText() reports what styles put before and behind, and never gives it", () => {
  const found = (css: string) => {
    const { text, hiddenRemoved } = htmlToText(`<style>${css}</style><p class=c>seen`);
    assert.equal(text, "seen");
    return hiddenRemoved;
  };
  assert.equal(found(".c::before{content:'EVIL'}"), true);
  assert.equal(found('p:after{content:"a" attr(title)}'), true);
  assert.equal(found("p::before{content:attr(title)}"), true);
  assert.equal(found("@media screen{.c::before{content:'4711'}}"), true);
  assert.equal(found(".d::before{content:'EVIL'}"), false);
  assert.equal(found(".c::before{content:'\\2022'} .c::after{content:''}"), false);
  assert.equal(found(".c::before{content:none}"), false);
});

Deno.test("htmlToText() says where styles are beyond it", () => {
  const judged = (html: string) => !htmlToText(html).isNotJudged;
  const rule = (css: string) => `<style>${css}</style><div class=o><p class=c>seen</div>`;
  for (
    const html of [
      rule(".c:last-child{display:none}"),
      rule(".c:has(b){color:#fff}"),
      rule("p:nth-last-child(1){font-size:0}"),
      rule("@supports (display:grid){.c{display:none}}"),
      rule(".o{ .c{display:none} }"),
      rule(":root{--x:#fff} .c{color:var(--x)}"),
      rule(".c{animation:hide 1s}"),
      rule(".c::first-line{display:none}"),
      "<p style='background:linear-gradient(#000,#111);color:#fff'>seen",
      "<table background=x.png><tr><td>seen</table>",
      "<p style='color:color-mix(in srgb, white, white)'>seen",
      "<p style='mask-image:url(x.svg)'>seen",
      "<p style='filter:contrast(0)'>seen",
      "<p style='transform:rotateX(90deg)'>seen",
      "<p style='height:0;padding:9px;overflow:hidden'>seen",
      "<p>seen</p><body style='display:none'>",
      "<p style='line-height:0;overflow:hidden'>seen",
      "<p style='--x:none;display:var(--x)'>seen",
      "<p style='visibility:var(--x)'>seen",
      "<p style='height:0;overflow:var(--x)'>seen",
      "<p style='max-height:calc(0px);overflow:hidden'>seen",
      "<p style='transform:scale(calc(0))'>seen",
      "<p style='scale:var(--x)'>seen",
      "<p style='translate:calc(-9999px)'>seen",
      "<p style='margin:0 0 0 calc(-9999px)'>seen",
      "<p style='position:absolute;inset:calc(-9999px) auto auto 0'>seen",
      "<p style='clip-path:polygon(0 0,1px 0,1px 1px)'>seen",
      "<p style='clip-path:var(--x)'>seen",
      "<p style='color:rgb(from white r g b)'>seen",
      "<p style='contain:strict'>seen",
      "<p style='-webkit-text-security:disc'>seen",
      "<p style='font-size-adjust:0'>seen",
      "<p style='offset-path:path(\"M -9999 0\")'>seen",
      "<p style='content:url(data:,)'>seen",
      "<p style='height:10px;text-indent:50px;overflow:hidden'>seen",
      "<p style='max-height:8px;overflow:hidden'>seen",
      "<p style='display:-webkit-box;-webkit-line-clamp:1;overflow:hidden'>seen",
      "a<p style='position:absolute;left:0;top:0;background:#fff'>seen",
      "a<p style='position:relative;top:-20px;background:#fff'>seen",
      "a<p style='margin-top:-20px;background:#fff'>seen",
      "a<p style='margin:0 0 -20px'>seen",
      "a<p style='transform:translateY(-20px)'>seen",
      "a<p style='transform:scaleX(-1)'>seen",
      "<p style='unicode-bidi:bidi-override;direction:rtl'>seen",
      "<bdo dir=rtl>nees</bdo>",
      "<p style='display:flex;flex-direction:row-reverse'><i>en</i><i>se</i>",
      "<p style='display:flex'><i style='order:2'>en</i><i>se</i>",
      "<p style='display:grid'><i style='grid-row:2'>en</i><i>se</i>",
      "<select><option>a<option>seen</select>",
      "<details name=a open><summary>a</summary></details><details name=a open>seen</details>",
      "<svg width=0 height=0><text fill=none>seen</text></svg>",
      "<div><template shadowrootmode=open>a</template>seen</div>",
      "<link rel=stylesheet href='data:text/css,p{display:none}'><p>seen",
      "<style>@import url(data:text/css,p{display:none});</style><p>seen",
    ]
  ) assert.equal(judged(html), false, html);
  for (
    const html of [
      rule(".c:last-child{margin:0}"),
      rule(".z:last-child{display:none}"),
      rule("@supports (display:grid){.z{display:none}}"),
      rule("@font-face{font-family:x;src:url(x)} @keyframes a{from{opacity:0}}"),
      rule(".c{line-height:calc(1em * 2)}"),
      "<p style='max-width:min(600px,100%);width:calc(100% - 9px)'>seen",
      "<p style='position:relative;top:1px;margin:-5px 9px -5px;order:0'>seen",
      "<p style='transform:rotate(3deg);flex-direction:column'>seen",
      "<p style='height:20px;overflow:hidden;clip-path:none'>seen",
      "<div style='background:url(x.png)'><p style='background:#fff'>seen",
      "<div style='background:url(x.png)'><img src=x></div>seen",
      "<body class=a><p>seen</p><body class=b>",
    ]
  ) assert.equal(judged(html), true, html);
});

Deno.test("htmlToText() gives html and body their styles where nobody wrote them down", () => {
  const seen = (html: string) => htmlToText(html).text;
  assert.equal(seen("<style>body{background:#000}</style><p style='color:#fff'>seen"), "seen");
  assert.equal(seen("<style>body{background:#000}</style><p style='color:#000'>SECRET"), "");
  assert.equal(seen("<style>html{background:#111}</style><font color=#111>SECRET</font>x"), "");
  assert.equal(seen("<html><meta charset=utf-8><body bgcolor=#000 text=#fff>seen"), "seen");
  assert.equal(seen("<style>body{display:none}</style>SECRET"), "");
  assert.equal(seen("<head><style>body > p{display:none}</style></head><p>SECRET</p>a"), "a");
});

Deno.test("htmlToText() leaves out and reports elements that browsers do not show", () => {
  const unseen = [
    "<template>SECRET</template>",
    "<iframe>SECRET</iframe>",
    "<noframes>SECRET</noframes>",
    "<dialog>SECRET</dialog>",
    "<div popover>SECRET</div>",
    "<details><summary>a</summary><p>SECRET</p></details>",
    "<details>SECRET</details>",
    "<details><summary>a</summary><summary>SECRET</summary></details>",
    "<math><mphantom>SECRET</mphantom></math>",
    "<video>SECRET</video>",
    "<audio>SECRET</audio>",
    "<canvas>SECRET</canvas>",
    "<datalist>SECRET</datalist>",
    "<ruby>a<rp>SECRET</rp></ruby>",
    "<svg><desc>SECRET</desc><defs><text>SECRET</text></defs></svg>",
    "<!--[if mso]><p>SECRET</p><![endif]-->",
    "<!--[if gte mso 9]><xml><o>x</o></xml>SECRET<![endif]-->",
    "<img width=1 height=1 alt=SECRET>",
    "<img style='width:1px' alt=SECRET>",
    "<img height=0 alt=SECRET>",
    "<font color=#ffffffffffff>SECRET</font>",
  ];
  const wrong = unseen.filter((html) => {
    const { text, hiddenRemoved } = htmlToText(`<p>x</p>${html}`);
    return text.includes("SECRET") || !hiddenRemoved;
  });
  assert.deepEqual(wrong, []);
  const seen = [
    "<details open>seen</details>",
    "<details><summary>seen</summary></details>",
    "<dialog open>seen</dialog>",
    "<div hidden style='display:block'>seen</div>",
    "<object>seen</object>",
    "<img width=20 height=20 alt=seen>",
    "<!--[if mso]><xml><o>96</o></xml><style>p{x:y}</style><table><![endif]-->seen",
    "<!--[if !mso]><!-->seen<!--<![endif]-->",
    "<template><style>.a{b:c}</style></template>seen",
  ];
  const lost = seen.filter((html) => {
    const { text, hiddenRemoved } = htmlToText(html);
    return text !== "seen" || hiddenRemoved;
  });
  assert.deepEqual(lost, []);
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
