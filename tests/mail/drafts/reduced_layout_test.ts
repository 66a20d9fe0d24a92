/// <reference lib="dom" />
/** Reduced HTML in a browser: whatever widths, spaces and tables it asks for, no word lies under another. */
import assert from "node:assert/strict";
import { reduceHtml } from "../../../server/mail/composing/reducing/reduce_html.ts";
import { toEnd } from "../../../server/base/slices/sliced.ts";
import { withChromium, withPage } from "../../support/chromium.ts";
import { OWN_PICTURE } from "../../support/hostile_drafts.ts";
import { isLong } from "../../support/long_test.ts";
import { misplacedWords } from "../../support/misplaced_words.ts";
import { partOrSkip } from "../../support/part.ts";
import { propertySeed } from "../../support/property_runs.ts";
import fc from "../../support/seeded_fast_check.ts";

/** Everything that a reduced HTML may say of where something stands. */
const STYLES = [
  "width:1px",
  "width:100%",
  "width:50%",
  "width:150px",
  "width:600px",
  "max-width:100%",
  "max-width:120px",
  "padding:64px",
  "padding:0 30px",
  "margin:0 64px",
  "margin-left:40px",
  "margin-right:40px",
  "line-height:1",
  "font-size:48px",
  "font-size:10px",
  "vertical-align:super",
  "vertical-align:top",
  "vertical-align:sub",
  "border:8px solid #000",
  "text-align:right",
  "text-align:center",
  "text-decoration:none",
  "font-weight:bold",
  "margin:auto",
  "font-family:courier new",
];
const style = fc.array(fc.constantFrom(...STYLES), { maxLength: 4 }).map((l) =>
  l.length ? ` style="${l.join(";")}"` : ""
);
const attribute = fc.constantFrom(
  "",
  "",
  "",
  " width=1",
  " width=100%",
  " width=500",
  " align=center",
  " align=right",
  " colspan=2",
  " rowspan=2",
  " colspan=3 rowspan=3",
  " dir=rtl",
);
const { doc } = fc.letrec<{ doc: string; block: string; inline: string }>((tie) => ({
  inline: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      "word",
      "Incomprehensibilities",
      "x".repeat(60),
      "two words",
      "<br>",
      "&nbsp;&nbsp;",
    ),
    fc.tuple(style, attribute).map(([s, t]) => `<img src="cid:l"${s}${t}>`),
    fc.tuple(
      fc.constantFrom("span", "b", "sup", "sub", "small", "code", "a href=https://e.org"),
      style,
      tie("inline"),
      tie("inline"),
    ).map(([n, s, x, y]) => `<${n}${s}>${x}${y}</${n.split(" ")[0]}>`),
  ),
  block: fc.oneof(
    { depthSize: "small" },
    tie("inline"),
    // Blocks in what stands in lines, too.
    fc.tuple(fc.constantFrom("span dir=rtl", "b dir=auto", "i"), tie("doc"))
      .map(([n, d]) => `<${n}>${d}</${n.split(" ")[0]}>`),
    fc.tuple(
      fc.constantFrom("div", "p", "h1", "ul><li", "ol><li", "blockquote", "pre", "dl><dd"),
      style,
      attribute,
      tie("doc"),
    ).map(([n, s, t, d]) => `<${n}${s}${t}>${d}</${n.split("><").reverse().join("></")}>`),
    fc.tuple(
      style,
      attribute,
      fc.array(fc.array(fc.tuple(style, attribute, tie("doc")), { minLength: 1, maxLength: 3 }), {
        minLength: 1,
        maxLength: 3,
      }),
    ).map(([s, t, rows]) =>
      `<table${s}${t}>${
        rows.map((r) => `<tr>${r.map(([s2, t2, d]) => `<td${s2}${t2}>${d}</td>`).join("")}</tr>`)
          .join("")
      }</table>`
    ),
  ),
  doc: fc.array(tie("block"), { minLength: 1, maxLength: 3 }).map((l) => l.join("")),
}));

const PICTURE = `data:image/png;base64,${OWN_PICTURE}`;
const VIEW = { viewport: { width: 700, height: 600 } };

partOrSkip(
  "chromium",
  "of a reduced HTML every word stands where it can be read",
  async (program) => {
    const documents = fc.sample(doc, { numRuns: isLong ? 250 : 60, seed: propertySeed() });
    await withChromium(program, async (browser) => {
      await withPage(browser, VIEW, async (page) => {
        const misplaced = async (html: string) => {
          await page.setContent(html.replaceAll("cid:l", PICTURE));
          return await page.evaluate(misplacedWords);
        };
        // What the check finds where nothing is reduced.
        assert.deepEqual(await misplaced(`<p>a</p><p style="margin-top:-30px">b</p>`), [
          "a over b",
        ]);
        assert.deepEqual(await misplaced(`<p style="margin-left:-99px">a`), ["out: a"]);
        for (const html of documents) {
          const pictures = [{ contentId: "l", sizeBytes: 1 }];
          const reduced = toEnd(reduceHtml(html, pictures)).html;
          assert.deepEqual(await misplaced(reduced), [], reduced);
        }
      });
    });
  },
);
