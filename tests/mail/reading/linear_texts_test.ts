/**
 * What is read from the text of a mail takes time in proportion to its length, whatever it holds:
 * each hostile text is read in two sizes, and the times are compared.
 */
import assert from "node:assert/strict";
import { parseAddresses } from "../../../server/mail/reading/mime/addresses.ts";
import { findCodes } from "../../../server/mail/reading/text/codes.ts";
import { extractText } from "../../../server/mail/reading/text/extracted_text.ts";
import { decodeWords } from "../../../server/mail/reading/mime/encoded_words.ts";
import { htmlToText } from "../../../server/mail/reading/html/html_text.ts";
import { removeInvisible } from "../../../server/mail/reading/mime/invisible_characters.ts";
import { parseParameters } from "../../../server/mail/reading/mime/parameters.ts";
import { linksOfText } from "../../../server/mail/reading/text/plain_links.ts";
import { toEnd } from "../../../server/base/slices/sliced.ts";
import { previewOf } from "../../../server/mail/reading/parse_mail.ts";
import { isLong } from "../../support/long_test.ts";
import fc from "../../support/seeded_fast_check.ts";
import { threadMs } from "../../support/thread_ms.ts";

const KIB = 1024;
const SHORT_CHARACTERS = (isLong ? 16 : 8) * KIB;
const TIMES_LONGER = 16;
const RUNS = 5;
/** A linear reader takes as long for one long text as for 16 short ones, a quadratic one 16 times as long. */
const MOST_GROWTH = 5;
/** Shorter times are noise. */
const FLOOR_MS = 24;

/** A beginning, what is repeated, and an end that is met late. */
type Shape = readonly [start: string, repeated: string, end?: string];

const HTML_SHAPES: readonly Shape[] = [
  ["", "<div>"],
  ["", "<div hidden>"],
  ["", "<div></span>"],
  ["<b><table><tr><td>", "<div></b>"],
  ["", "<b>", "x"],
  ["", "<b></p>"],
  ["", '<p><font color="#123456">x'],
  ["", '<p><font style="display:none">x'],
  ["", '<b style="color:red"><div></b>x'],
  ["", "<table><tr><td>"],
  ["", "<table><td><p><a href=https://a.test>x"],
  ["", "<ul><li>x"],
  ["", "<li><p>"],
  ["", "<dd><dt>"],
  ["", "<h1><h2>"],
  ["", "<form><b></form>"],
  ["", "<svg><p/>"],
  ["", "<template>"],
  ["", "<head><title>"],
  ["", "<blockquote>x<br>"],
  ["", "<blockquote type=cite>x</blockquote>y"],
  ["", "<blockquote>On 3 May 2024, a@b.cc wrote:<br></blockquote>y"],
  ["", "<div class=gmail_attr>x</div>y"],
  ["", "<div id=divRplyFwdMsg>From: x<br>To: y</div>"],
  ["", "<pre>\n"],
  ["", "<br>"],
  ["", "<"],
  ["", "</"],
  ["", "<!--"],
  ["", "<!"],
  ["<!--", "-"],
  ["", "&"],
  ["", "&amp"],
  ["", "&notin;&#x41;&lt"],
  ["<p title='", "x", "'>"],
  ["<p ", "a ", ">x"],
  ["<p style='", "x:y;", "'>x"],
  ["<p style='", "(", "'>x"],
  ["<p style='color:", "rgb(", "'>x"],
  ["<p style='clip-path:", "0 ", "'>x"],
  ["<p style='display:", " ", "none!important'>x"],
  ["<p class='", "c1 ", "'>x"],
  ["<style>.a{b:c}", "<style></style>"],
  ["<style>", "/*"],
  ["<style>", "'"],
  ["<style>", "'\n"],
  ["<style>'", "\\"],
  ["<style>", "{"],
  ["<style>", "}"],
  ["<style>", ";"],
  ["<style>", "a;"],
  ["<style>@", ";"],
  ["<style>", ".a,"],
  ["<style>", ".a{color:red}"],
  ["<style>", "*{color:red}p.c{x:y}"],
  ["<style>", "<!--"],
  ["<style>*{color:red}</style>", "<p>x"],
  ["", "<a href=https://a.test>x"],
  ["", "<img alt='a b'>"],
  ["", " "],
  ["", "a "],
  ["", "\u00ad"],
  ["", "<blockquote>a</blockquote>&gt; b<br>"],
  ["<table>", "<tr>"],
  ["<table><tr>", "<td>x"],
];

const TEXT_SHAPES: readonly Shape[] = [
  ["", "a"],
  ["", "1"],
  ["", " "],
  ["", "\n"],
  ["", "a\n"],
  ["", ">\n", "x"],
  ["", "> > > "],
  ["", "-", "!"],
  ["-----", " ", "x"],
  ["", "_", "x"],
  ["", "__________ \n", "x"],
  ["", ":\n", "x"],
  ["", "wrote:\n"],
  ["", "On 3 May 2024 a@b.cc:x\n"],
  ["", "From:\n"],
  ["", "From: x\n\n\n"],
  ["", "From: a@b.cc To: x Date: 3 May 2024\n"],
  ["", "Date: 3 May 2024\nTo: a@b.cc\n> x\ny\n"],
  ["", "> x\n\n"],
  ["", "> x\ny\n"],
  ["", "x:\n\n\n\n\n"],
  ["", "On 3 May 2024, a@b.cc wrote:\n> x\ny\n"],
  ["", "Yes. On 3 May 2024, a@b.cc wrote:\n"],
  ["", "On 3 ", "May 2024, a@b.cc wrote:\n"],
  ["", `${"On 3 ".repeat(70)}wrote:\n`],
  ["", "---- x wrote ----\n"],
  ["", `x${"-".repeat(390)}\n`],
  ["", "-----Original Message-----\n> x\ny\n"],
  ["", "---------- Forwarded message\u00a0x\n"],
  ["", "________\n\n"],
  ["", "> (http://x\ny\n"],
  ["", "<https://x\n> y\n"],
  ["", "> <", "\nx)\n"],
  ["", "-- \n"],
  ["", "--\n"],
  ["", "Sent from my x\n"],
  ["", "a@"],
  ["", "@a."],
  ["", "3.3.", "x"],
  ["", "code "],
  ["", "code 1234 $"],
  ["", "code $1234 "],
  ["", "code 2024 "],
  ["", `code${":".repeat(50)}! 123456 `],
  ["", "koodi"],
  ["", "A1"],
  ["", "ABCDE12 "],
  ["", "12 34 "],
  ["", "one-time "],
  ["", "http://"],
  ["", "https://a.test/("],
  ["https://a.test/", ")"],
  ["https://a.test/", "."],
  ["", "www."],
  ["", "\u200b"],
  ["", "\u200d\u{1f468}"],
  ["", "\u{e0041}\u202e"],
  ["", "\ud800"],
];

const TEXT_READERS: readonly ((text: string) => unknown)[] = [
  (text) => toEnd(extractText(text, { kind: "reply" })),
  (text) => toEnd(extractText(text, { kind: "other" })),
  (text) => findCodes(text, text),
  linksOfText,
  removeInvisible,
  previewOf,
];

function textOf([start, repeated, end = ""]: Shape, characters: number): string {
  return start + repeated.repeat(Math.ceil(characters / repeated.length)) + end;
}

/** The least of some runs, until one is short enough: what disturbs a run only makes it longer. */
function leastMs(read: (text: string) => unknown, text: string, enoughMs: number): number {
  let least = Infinity;
  for (let run = 0; run < RUNS && least > enoughMs; run++) {
    least = Math.min(least, msOf(() => read(text)));
  }
  return least;
}

function msOf(work: () => unknown): number {
  const startMs = threadMs();
  work();
  return threadMs() - startMs;
}

function readReply(html: string): void {
  const { text, quotes } = htmlToText(html);
  toEnd(extractText(text, { kind: "other", quotes }));
}

function slowShapes(
  read: (text: string) => unknown,
  shapes: readonly Shape[],
  runs = RUNS,
): string[] {
  return shapes.flatMap((shape) => {
    const long = textOf(shape, SHORT_CHARACTERS * TIMES_LONGER);
    const short = textOf(shape, SHORT_CHARACTERS);
    let [longMs, shortMs] = [Infinity, Infinity];
    for (let run = 0; run < runs; run++) {
      longMs = Math.min(longMs, msOf(() => read(long)));
      if (longMs < FLOOR_MS) return [];
      // As much work as the long one, so that a busy machine disturbs both alike.
      const ofAll = msOf(() => {
        for (let i = 0; i < TIMES_LONGER; i++) read(short);
      });
      shortMs = Math.min(shortMs, ofAll);
      if (longMs / Math.max(shortMs, FLOOR_MS) < MOST_GROWTH) return [];
    }
    return [`${JSON.stringify(shape)}: ${shortMs}, ${longMs} ms`];
  });
}

Deno.test("htmlToText() and extractText() take time in proportion to hostile HTML", () => {
  assert.deepEqual(slowShapes(readReply, HTML_SHAPES), []);
});

/** What patterns look for, and what ends them. */
const FRAGMENTS =
  `: ! . , ; - _ = ? * # ( ) [ ] > < / \\ \\a @ a A 1 é は is code 123456 wrote On From: To: =? ?= http:// % 2024`
    .split(" ").concat(" ", "\n", "\u200b");
/** Each fragment in one place: what takes twice as long for every one of 24 fails, and does not hang. */
const short = fc.uniqueArray(
  fc.tuple(fc.constantFrom(...FRAGMENTS), fc.constantFrom(1, 2, 24)),
  { maxLength: 5, selector: ([fragment]) => fragment },
).map((pieces) => pieces.map(([fragment, times]) => fragment.repeat(times)).join(""));
/** Where a text stands in HTML that is looked at by patterns. */
const PLACES: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `<p style="${text.replaceAll('"', "")}">x`,
  (text) => `<p style="clip-path:a(${text});font:${text};background:${text}">x`,
  (text) => `<p style="transform:${text};clip:${text};display:${text}">x`,
  (text) => `<style>.${text}{top:0}${text}{color:red}</style>x`,
  (text) => `<a href="http://${text}">${text}</a><font color="${text}">x`,
];
/** A pattern that reads a character in two ways takes seconds for 24 of them. */
const MOST_MS_OF_SHORT = 100;
const SHORT_TEXTS = isLong ? 2_000 : 500;

Deno.test("what reads texts and HTML is done with any short one at once", () => {
  const readers = [
    ...TEXT_READERS.map((read) => (text: string) => read(`code ${text} 123456`)),
    ...PLACES.map((place) => (text: string) => htmlToText(place(text))),
    (text: string) => decodeWords(text),
    (text: string) => parseAddresses(text, 10, new Set()),
    (text: string) => parseParameters(text),
  ];
  for (const read of readers) read("warm");
  let texts = 0;
  fc.assert(
    fc.property(short, (text) => {
      const tookMs = leastMs(
        (one) => readers.forEach((read) => read(one)),
        text,
        MOST_MS_OF_SHORT,
      );
      assert.ok(tookMs < MOST_MS_OF_SHORT, `${tookMs} ms`);
      texts++;
    }),
    { numRuns: SHORT_TEXTS },
  );
  assert.equal(texts, SHORT_TEXTS);
});

Deno.test("what reads texts takes time in proportion to hostile ones", () => {
  assert.deepEqual(TEXT_READERS.flatMap((read) => slowShapes(read, TEXT_SHAPES)), []);
});

Deno.test("the comparison of times would find a pattern that is quadratic", () => {
  const quadratic = (text: string) => /0\d*[1-9]\d*x$/.test(`0${text.slice(0, text.length / 4)}!`);
  assert.equal(slowShapes(quadratic, [["", "1"]], 1).length, 1);
});

Deno.test("htmlToText() reads a million open elements and a style of every class", () => {
  assert.equal(htmlToText(`${"<b>".repeat(1_000_000)}x`).text, "x");
  assert.equal(htmlToText(`${"<div>".repeat(200_000)}x`).text, "x");
  const hidden = htmlToText(`${"<div>".repeat(400_000)}<p hidden>no</p>no`);
  assert.deepEqual([hidden.text, hidden.hiddenRemoved], ["", true]);
  const classes = Array.from({ length: 100_000 }, (_, i) => `c${i}`).join(" ");
  const one = `<style>.c99999{display:none}</style><p class="${classes}">no</p>yes`;
  assert.equal(htmlToText(one).text, "yes");
  const rules = Array.from({ length: 200_000 }, (_, i) => `.c${i}{display:none}`).join("");
  assert.equal(htmlToText(`<style>${rules}</style><p class=c5>no</p>yes`).text, "yes");
  assert.equal(htmlToText(`<p title="${"x".repeat(1_000_000)}">yes`).text, "yes");
});
