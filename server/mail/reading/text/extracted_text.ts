/** What somebody wrote, without the former messages that are quoted. Pure; linear. */
import { attributionAt, mayEndAttribution } from "./attribution.ts";
import { hasLabel, isForwardMark, isMailHeader, isOriginalMessage } from "./former_mail.ts";
import type { QuotedLines } from "../html/html_quotes.ts";
import type { MailKind } from "./mail_kind.ts";
import { type QuotedText, quotedText } from "./quoted_text.ts";
import { signatureLine } from "./signature_line.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";

export interface ExtractedText {
  text: string;
  /** Where in it the signature begins, in code points; null where none does. */
  signature: number | null;
}

/** What is known about a text beyond its words. */
export interface TextOrigin {
  kind: MailKind;
  /** Lines that HTML marks, in order; empty for plain text. */
  quotes?: readonly QuotedLines[];
}

/** How many lines are looked at that may be an attribution, or begin with a label. */
const MAX_EXAMINED_LINES = 20_000;
/** How far a blockquote is read for a header. */
const LINES_OF_INTRODUCTION = 8;
/** What is looked at between two moments at which others may run. */
const LINES_A_SLICE = 2_048;

/**
 * Takes out of a text what it quotes, wherever that stands, and gives the rest in its order:
 *
 * - runs of lines that begin with `>`, or are a quote in the HTML, with the attribution above them;
 * - in a reply the header of a former mail and `-----Original Message-----`, and an attribution whose
 *   quote is not marked, to the end of the text;
 * - nothing of what is passed on: from there on all is new.
 *
 * Where nothing is left it is the whole text. Signatures stay.
 */
export function* extractText(
  text: string,
  { kind, quotes = [] }: TextOrigin,
): Sliced<ExtractedText> {
  const lines = text.split("\n");
  const { segments, isCut, isPassedOn } = yield* newSegments(quotedText(lines, quotes), kind);
  if (segments.length === 0 || (kind === "forward" && !isPassedOn)) {
    return { text, signature: null };
  }
  const last = isCut ? segments.at(-1)!.join("\n").trimEnd() : text;
  const before = segments.slice(0, -1).map((segment) => segment.join("\n").trimEnd() + "\n\n");
  const own = before.join("") + last;
  const line = isPassedOn ? null : signatureLine(segments.at(-1)!);
  if (line === null) return { text: own, signature: null };
  const above = segments.at(-1)!.slice(0, line).reduce(
    (length, { length: more }) => length + more + 1,
    0,
  );
  return { text: own, signature: codePoints(own, own.length - last.length + above) };
}

function codePoints(text: string, end: number): number {
  let count = 0;
  for (let i = 0; i < end; i++) {
    const unit = text.charCodeAt(i);
    // The second half of a pair was counted with the first.
    const isSecond = unit >= 0xdc00 && unit <= 0xdfff && i > 0 &&
      (text.charCodeAt(i - 1) & 0xfc00) === 0xd800;
    if (!isSecond) count++;
  }
  return count;
}

interface NewSegments {
  /** Lines that are new; each has some text. Where something was cut they have no empty lines around. */
  segments: string[][];
  isCut: boolean;
  /** Whether the last of them passes a mail on. */
  isPassedOn: boolean;
}

function* newSegments(text: QuotedText, kind: MailKind): Sliced<NewSegments> {
  const { lines } = text;
  const segments: string[][] = [];
  let isCut = false;
  let isPassedOn = false;
  let begin = 0;
  let left = MAX_EXAMINED_LINES;
  let next = 0;

  const keep = (end: number, before = "") => {
    const kept = lines.slice(begin, end);
    if (before !== "") kept.push(before);
    const first = kept.findIndex((line) => line.trim() !== "");
    if (first < 0) return;
    if (!isCut) return void segments.push(kept);
    segments.push(kept.slice(first, kept.findLastIndex((line) => line.trim() !== "") + 1));
  };
  const cut = (from: number, end: number, before = "") => {
    isCut = true;
    keep(from, before);
    begin = next = end;
  };

  for (let sliceEnd = 0; next < lines.length;) {
    if (next >= sliceEnd) {
      yield null;
      sliceEnd = next + LINES_A_SLICE;
    }
    const i = next++;
    const line = lines[i]!;
    if (line === "") continue;
    if (text.isQuote(i)) {
      if (kind !== "reply" && isForwardMark(text.unquoted(i))) isPassedOn = true;
      else cut(i, text.quoteEnd(i));
    } else if (isForwardMark(line)) isPassedOn = true;
    else if (text.kindOf(i) === "attribution" && introducesQuote(i)) cut(i, i + 1);
    else if (text.beginsFormer(i) || isOriginalMessage(line) || isHeader(i)) {
      if (kind === "forward") isPassedOn = true;
      else if (kind === "reply") cut(text.ruleAbove(i, begin), text.formerEnd(i));
    } else if (text.beginsBlockquote(i)) {
      if (introducesItself(i)) cut(i, text.quoteEnd(i));
    } else if (left > 0 && mayEndAttribution(line)) {
      left--;
      const below = text.nextWritten(i + 1);
      const isAboveQuote = below < lines.length && text.isQuote(below);
      const isAboveBlock = below < lines.length && text.kindOf(below) === "blockquote";
      const found = attributionAt(lines, i, { floor: begin, isAboveQuote });
      // An author also writes "Twain wrote:" above a quote of his own.
      const isOne = isAboveQuote || (found?.isCertain && (isAboveBlock || kind === "reply"));
      if (found === null || !isOne) continue;
      const end = isAboveQuote || isAboveBlock ? text.quoteEnd(below) : lines.length;
      cut(found.start, end, found.before);
    }
    if (isPassedOn) break;
  }
  keep(lines.length);
  return { segments, isCut, isPassedOn };

  function isHeader(i: number): boolean {
    if (left === 0 || !hasLabel(lines[i]!)) return false;
    left--;
    return isMailHeader(lines, i);
  }

  /** Whether a quote follows the lines that are marked to introduce one: words are not left out for a mark. */
  function introducesQuote(i: number): boolean {
    let below = i;
    for (let left = LINES_OF_INTRODUCTION; left > 0; left--) {
      below = text.nextWritten(below + 1);
      if (below >= lines.length || text.kindOf(below) !== "attribution") break;
    }
    return below < lines.length && (text.isQuote(below) || text.kindOf(below) === "blockquote");
  }

  /** Whether an author's own quote begins as a mail does that is quoted. */
  function introducesItself(i: number): boolean {
    const start = Array.from(
      lines.slice(i, text.quoteEnd(i, LINES_OF_INTRODUCTION)),
      (_, at) => text.unquoted(i + at),
    );
    return isMailHeader(start, 0) ||
      start.slice(0, 3).some((line, end) =>
        mayEndAttribution(line) &&
        attributionAt(start, end, { floor: 0, isAboveQuote: false })?.isCertain === true
      );
  }
}
