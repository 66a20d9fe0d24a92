import assert from "node:assert/strict";
import { htmlToText } from "./html_text.ts";
import { parseMail } from "./parse_mail.ts";
import { readBodyTexts } from "./body_texts.ts";
import { readTexts } from "./part_texts.ts";
import { readShownParts } from "./shown_parts.ts";
import { toEnd } from "./sliced.ts";
import { walkParts } from "./walk_parts.ts";

const quoted = (html: string) => {
  const { text, quotes } = htmlToText(html);
  return quotes.map(({ start, end, kind }) => [kind, text.slice(start, end)]);
};

Deno.test("htmlToText() tells which ranges programs mark as quotes", () => {
  assert.deepEqual(
    quoted(
      `new<blockquote type=cite>old<blockquote type=cite>older</blockquote></blockquote>newer
<blockquote type=CITE><p>old</p><p>two</p></blockquote><blockquote>no quote</blockquote>`,
    ),
    [["cite", "> old\n\n> > older"], ["cite", "> old\n\n> two"]],
  );
  assert.deepEqual(
    quoted(`a<div class="x gmail_quote">On Monday:<blockquote>old</blockquote></div><p>b`),
    [["gmail", "On Monday:\n\n> old"]],
  );
  assert.deepEqual(
    quoted(`a<hr><div id=divRplyFwdMsg><b>From:</b> Ann</div><p>old</p><div class=gmail_quote>x`),
    [["outlook", "From: Ann\n\nold\n\nx"]],
  );
  const border = "border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0in 0in 0in";
  assert.deepEqual(quoted(`<p>a</p><div><div style='${border}'><p>From: A</div></div><p>old`), [
    ["outlook", "From: A\n\nold"],
  ]);
  assert.deepEqual(
    quoted("<div class=gmail_quote hidden>old</div><blockquote type=cite></blockquote>x"),
    [],
  );
  assert.deepEqual(quoted("a&#x200b;&#x200b;b<blockquote type=cite>c&#x202e;d</blockquote>e"), [
    ["cite", "> cd"],
  ]);
});

Deno.test("readBodyTexts() tells of quotes by their places in the whole text", () => {
  const raw = new TextEncoder().encode(
    "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nfirst\n--b\nContent-Type: text/html\n\n" +
      "<p>new</p><blockquote type=cite>old</blockquote>\n--b\n\nfooter\n--b--\n",
  );
  const warnings = new Set<never>();
  const parts = readShownParts(toEnd(walkParts(raw, { parts: 9, depth: 9 }, warnings)));
  const { shown, quotes } = toEnd(readBodyTexts(parts, {
    plain: toEnd(readTexts(raw, parts.shown, "text/plain", warnings)),
    html: toEnd(readTexts(raw, parts.shown, "text/html", warnings)),
  }, warnings));
  assert.equal(shown, "first\nnew\n\n> old\nfooter");
  assert.deepEqual(quotes.map(({ start, end }) => shown!.slice(start, end)), ["> old"]);
  const { texts } = parseMail(raw, { envelopeFrom: "", limits: { parts: 9, depth: 9 } });
  assert.equal(texts.text, shown);
});
