/** What is shown of a message's parts, by their structure. */
import assert from "node:assert/strict";
import { parseMail } from "../parse_mail.ts";
import { wasAttachment } from "./attachments.ts";
import { readAttachment, readAttachments } from "./read_attachment.ts";
import { toEnd } from "../../../base/slices/sliced.ts";
import { walkParts } from "./walk_parts.ts";

const limits = { parts: 200, depth: 50 };

/** A part, or a multipart of parts. */
type Part = string | { type: string; parts: Part[] };

function write(part: Part, level = 0): string {
  if (typeof part === "string") return part;
  const boundary = `b${level}`;
  return `Content-Type: multipart/${part.type}; boundary=${boundary}\n\n` +
    part.parts.map((one) => `--${boundary}\n${write(one, level + 1)}\n`).join("") +
    `--${boundary}--\n`;
}

const bytesOf = (part: Part) => new TextEncoder().encode(`From: a@a.example\n${write(part)}`);

function read(part: Part) {
  const { facts, texts } = parseMail(bytesOf(part), { envelopeFrom: "", limits });
  return {
    text: texts.text,
    source: facts.textSource,
    html: texts.html,
    shown: texts.shown ?? texts.text,
    extracted: texts.extractedText,
    files: facts.attachments.map(({ filename }) => filename),
    warnings: facts.parseWarnings,
    codes: facts.codes.map(({ value }) => value),
    links: texts.links.map(({ url }) => url),
  };
}

const plain = (text: string, more = "") => `Content-Type: text/plain${more}\n\n${text}`;
const html = (text: string, more = "") => `Content-Type: text/html${more}\n\n<p>${text}</p>`;
const file = (name: string) => `Content-Type: application/pdf; name=${name}\n\nx`;
const mixed = (...parts: Part[]) => ({ type: "mixed", parts });
const alternative = (...parts: Part[]) => ({ type: "alternative", parts });
const related = (...parts: Part[]) => ({ type: "related", parts });
const named = (name: string, how = "inline") =>
  `; charset=utf-8\nContent-Disposition: ${how}; filename=${name}`;

Deno.test("parseMail() gives agents what mail programs show of alternatives, and marks what differs", () => {
  const found = read(alternative(
    plain("Your code is 666666: https://evil.test/"),
    html('Your code is 111111: <a href="https://good.test/">go on</a>'),
  ));
  assert.deepEqual(found, {
    text: "Your code is 666666: https://evil.test/",
    source: "plain",
    html: '<p>Your code is 111111: <a href="https://good.test/">go on</a></p>',
    shown: "Your code is 111111: go on [https://good.test/]",
    extracted: "Your code is 111111: go on [https://good.test/]",
    files: [],
    warnings: ["alternatives_differ"],
    codes: ["111111"],
    links: ["https://good.test/"],
  });
});

Deno.test("parseMail() shows the HTML of alternatives wherever it stands, and of several the last", () => {
  assert.equal(read(alternative(html("nice words"), plain("nice words"))).shown, "nice words");
  const two = read(alternative(html("EVIL"), html("nice")));
  assert.deepEqual([two.shown, two.html, two.text, two.source], [
    "nice",
    "<p>nice</p>",
    "nice",
    "html",
  ]);
  assert.deepEqual([two.warnings, two.files], [["alternatives_differ"], []]);
});

Deno.test("parseMail() marks alternatives by their words and codes, not by addresses and layout", () => {
  const differs = (a: string, b: string) =>
    read(alternative(plain(a), html(b))).warnings.includes("alternatives_differ");
  const words = "one two three four five six seven eight nine";
  assert.equal(differs(words, words), false);
  assert.equal(
    differs(`${words} https://a.test/x?y=z`, `${words} <a href=https://b.test>ten</a>`),
    false,
  );
  assert.equal(differs(words, `${words} ten eleven twelve`), false);
  assert.equal(differs(words, `${words} ten eleven twelve thirteen`), true);
  assert.equal(differs(`${words} ten eleven twelve thirteen`, words), true);
  assert.equal(differs(`${words}: your code 123456`, `${words}: your code 123457`), true);
  assert.equal(differs(words, "<img src=https://a.test/x.png>"), true);
  assert.equal(differs(" \n", words), false);
  assert.equal(differs("Grüße, CAFÉ", "<b>grüße</b> café"), false);
});

Deno.test("parseMail() puts HTML and the plain footer behind it together, in order", () => {
  const { text, source, html: shownHtml, codes, links, shown } = read(mixed(
    html('Your code is <b>482913</b>, <a href="https://a.test/">or this</a>.'),
    plain("-- \nlist footer https://list.test/\n"),
  ));
  assert.deepEqual([text, source, shown], [
    "Your code is 482913, or this [https://a.test/].\n-- \nlist footer https://list.test/\n",
    "mixed",
    text,
  ]);
  assert.equal(shownHtml?.includes("482913"), true);
  assert.deepEqual([codes, links], [["482913"], ["https://a.test/", "https://list.test/"]]);
});

Deno.test("parseMail() converts HTML parts one by one: none hides the next", () => {
  const { text, html: both } = read(mixed(html("one<div hidden>"), html("two"), plain("three")));
  assert.deepEqual([text, both], ["one\ntwo\nthree", "<p>one<div hidden></p>\n<p>two</p>"]);
});

Deno.test("parseMail() shows a named text as the body where there is no other", () => {
  for (const how of ["inline", "INLINE", "x-unknown"]) {
    const { text, files } = read(plain("Hello", named("mail.txt", how)));
    assert.deepEqual([text, files], ["Hello", []], how);
  }
  assert.deepEqual(read(plain("Hello", "; name=mail.txt")).text, "Hello");
  assert.deepEqual(read(html("Hello", named("mail.html"))).text, "Hello");
  const attached = read(plain("Hello", named("mail.txt", "attachment")));
  assert.deepEqual([attached.text, attached.files], [null, ["mail.txt"]]);
  const behind = read(mixed(plain("Hello"), plain("log", named("a.log")), plain("footer")));
  assert.deepEqual([behind.text, behind.files], ["Hello\nfooter", ["a.log"]]);
  const first = read(mixed(file("a.pdf"), plain("Hello", named("b.txt")), plain("x", named("c"))));
  assert.deepEqual([first.text, first.files], ["Hello", ["a.pdf", "c"]]);
  const both = read(alternative(plain("Hello", "; name=a.txt"), html("Hello", "; name=a.html")));
  assert.deepEqual([both.text, both.shown, both.files], ["Hello", "Hello", []]);
});

Deno.test("parseMail() reads the root of related parts, by start where it is named", () => {
  const picture = "Content-Type: image/png\nContent-ID: <p@a>\n\nx";
  const found = read(related(html("body"), picture, html("a frame")));
  assert.deepEqual([found.text, found.files.length], ["body", 2]);
  const start = `Content-Type: text/html\nContent-ID: <r@a>\n\n<p>root</p>`;
  const type = 'related; start="<r@a>"';
  const byStart = read({ type, parts: [html("other"), start] });
  assert.deepEqual([byStart.text, byStart.files.length], ["root", 1]);
  const nested = read(related(alternative(plain("plain words"), html("plain words")), picture));
  assert.deepEqual([nested.source, nested.html, nested.files.length], [
    "plain",
    "<p>plain words</p>",
    1,
  ]);
  assert.equal(read(related(picture, html("late root"))).text, "late root");
});

Deno.test("parseMail() reads what programs nest: related in alternatives, files in one of them", () => {
  const apple = read(alternative(
    plain("See the file."),
    mixed(html("See the "), file("a.pdf"), html("file.")),
  ));
  assert.deepEqual([apple.text, apple.shown, apple.files], [
    "See the file.",
    "See the\nfile.",
    ["a.pdf"],
  ]);
  const outlook = read(mixed(
    related(alternative(plain("a b"), html("a b")), "Content-Type: image/png\n\nx"),
    "Content-Type: message/rfc822\n\nSubject: in\n\nEVIL",
    "Content-Type: text/calendar\n\nBEGIN:VCALENDAR",
  ));
  assert.deepEqual([outlook.text, outlook.files.length], ["a b", 3]);
  const signed = read({
    type: "signed",
    parts: [mixed(plain("signed words")), "Content-Type: application/pgp-signature\n\nx"],
  });
  assert.deepEqual([signed.text, signed.files.length], ["signed words", 1]);
  const report = read({
    type: "report",
    parts: [plain("It bounced."), "Content-Type: message/delivery-status\n\nx"],
  });
  assert.deepEqual([report.text, report.files.length], ["It bounced.", 1]);
  assert.equal(read({ type: "digest", parts: ["\nSubject: a\n\nEVIL"] }).text, null);
  assert.equal(read({ type: "x-unheard-of", parts: [plain("a"), plain("b")] }).text, "a\nb");
});

Deno.test("parseMail() takes the HTML where the plain text is white space, and tells pictures alone apart", () => {
  const blank = read(alternative(plain(" \n"), html("words")));
  assert.deepEqual([blank.text, blank.source, blank.warnings], ["words", "html", []]);
  const footed = read(mixed(alternative(plain(" "), html("words")), plain("footer")));
  assert.deepEqual([footed.text, footed.source, footed.warnings], ["words\nfooter", "mixed", []]);
  const picture = read(alternative(plain("EVIL words"), html("<img src=https://a.test/x>")));
  assert.deepEqual([picture.text, picture.shown, picture.warnings], [
    "EVIL words",
    "",
    ["alternatives_differ"],
  ]);
});

Deno.test("readAttachment() finds what older messages list by the rule of their time", () => {
  const raw = bytesOf(mixed(plain("Hello", "; name=a.txt"), file("b.pdf"), file("b.pdf")));
  const now = parseMail(raw, { envelopeFrom: "", limits }).facts.attachments;
  assert.deepEqual(now.map(({ filename }) => filename), ["b.pdf", "b.pdf"]);
  const former = toEnd(walkParts(raw, limits, new Set())).filter(wasAttachment);
  assert.equal(former.length, 3);
  // SHA-256 of "Hello", and of "x".
  const listed = [
    "185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969",
    now[0]!.sha256,
    now[1]!.sha256,
  ];
  const texts = toEnd(readAttachments(raw, listed, limits)).map((read) =>
    read === null ? null : new TextDecoder().decode(read.bytes)
  );
  assert.deepEqual(texts, ["Hello", "x", "x"]);
  const one = toEnd(readAttachment(raw, { index: 0, sha256: listed[0]! }, limits));
  assert.equal(new TextDecoder().decode(one?.bytes), "Hello");
  assert.equal(toEnd(readAttachment(raw, { index: 0, sha256: "00" }, limits)), null);
});
