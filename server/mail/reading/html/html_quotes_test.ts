import assert from "node:assert/strict";
import { readBodyTexts } from "../body_texts.ts";
import { htmlToText } from "./html_text.ts";
import { parseMail } from "../parse_mail.ts";
import { readTexts } from "../mime/part_texts.ts";
import { readShownParts } from "../mime/shown_parts.ts";
import { toEnd } from "../../../base/slices/sliced.ts";
import { walkParts } from "../mime/walk_parts.ts";

const quoted = (html: string) => {
  const { text, quotes } = htmlToText(html);
  const lines = text.split("\n");
  return quotes.map(({ line, kind }) => [lines[line], kind]);
};

Deno.test("htmlToText() tells which lines programs mark as quotes, and by what", () => {
  const html = `<p>a\u200b\u200bb</p><blockquote>own</blockquote><pre>c\n\nd</pre>
<div class="gmail_attr">x:</div><blockquote type=CITE>y<br>z<blockquote>w</blockquote></blockquote>e
<div id=divRplyFwdMsg>From: x</div>f`;
  assert.deepEqual(quoted(html), [
    ["> own", "blockquote"],
    ["c", null],
    ["x:", "attribution"],
    ["> y", "quote"],
    ["e", null],
    ["From: x", "former"],
  ]);
  const border = "border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0in 0in 0in";
  assert.deepEqual(quoted(`<p>a</p><div><div style='${border}'><p>From: A</div></div><p>old`), [
    ["From: A", "former"],
  ]);
  assert.deepEqual(quoted("<blockquote type=cite hidden>old</blockquote>x"), []);
});

Deno.test("readBodyTexts() tells of quotes by their lines in the whole text", () => {
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
  const lines = shown.split("\n");
  assert.deepEqual(quotes.map(({ line, kind }) => [lines[line], kind]), [
    ["> old", "quote"],
    ["footer", null],
  ]);
  const { texts } = parseMail(raw, { envelopeFrom: "", limits: { parts: 9, depth: 9 } });
  assert.equal(texts.extractedText, "first\nnew\n\nfooter");
});

Deno.test("extractText() leaves out what is marked to introduce a quote where one follows, no other words", () => {
  const read = (html: string) => {
    const raw = `Subject: Re: x\nContent-Type: text/html\n\n${html}`;
    const limits = { parts: 9, depth: 9 };
    return parseMail(new TextEncoder().encode(raw), { envelopeFrom: "", limits })
      .texts.extractedText;
  };
  const introduction = "<div class=gmail_attr>Ann:<br><br>to Bo:</div>";
  assert.equal(read(`<p>new</p>${introduction}<blockquote type=cite>old</blockquote>`), "new");
  assert.equal(
    read("<div class=gmail_attr>Pay 500 today.</div><p>Thanks</p>"),
    "Pay 500 today.\n\nThanks",
  );
});
