/** What somebody wrote, without the former messages quoted below it. Pure; linear. */
import {
  DATE_LABEL,
  FROM_LABEL,
  INTRODUCTION_START,
  ORIGINAL_MESSAGE,
  TO_LABEL,
  WROTE_WORDS,
} from "./quote_introductions.ts";
import type { Sliced } from "./sliced.ts";

/** The lines and characters that an introduction ("On ..., Anna wrote:") has at most. */
const MAX_SPAN_LINES = 3;
const MAX_SPAN_CHARACTERS = 400;
/** How many lines an Outlook block is looked for in, empty ones left out. */
const BLOCK_LINES = 8;
/** How many lines are looked at that end in a colon or begin with a label. */
const MAX_EXAMINED_LINES = 20_000;
/** What is looked at between two moments at which others may have a turn. */
const LINES_A_TURN = 2_048;
/** A label stands at the beginning of its line. */
const LABEL_CHARACTERS = 60;

/** A day with its year, in digits or with the month as a word; a year alone is none. */
const DATES = [
  /(?<!\d)\d{1,2}[./-]\s?\d{1,2}[./-]\s?\d{2,4}(?!\d)/u,
  /(?<!\d)\d{4}[./-]\s?\d{1,2}[./-]\s?\d{1,2}(?!\d)/u,
  /\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일]/u,
];
const YEAR = /(?<!\d)(?:19|20|25)\d\d(?!\d)/g;
const SHORT_NUMBER = /(?<!\d)\d{1,2}(?!\d)/;
const ADDRESS = /[^\s<>@:"]@[^\s<>@:"]+\.[^\s<>@:"]/;

/**
 * Cuts a text at the first of: an introduction of up to three lines and 400 characters that ends in a
 * colon and has a date beside an address or a word for "wrote"; `-----Original Message-----`; an
 * Outlook block (From, Sent or Date, To); a line of at least ten underscores. Without any of them the
 * lines beginning with `>` at its end go. Where nothing is left, it is the whole text. Signatures stay.
 *
 * An address and "wrote" without a date are an introduction too, and "wrote" alone above a line that
 * begins with `>`. Labels and words are those of quote_introductions.ts.
 */
export function* extractText(text: string): Sliced<string> {
  const lines = text.split("\n");
  let cut = yield* firstQuote(lines);
  if (cut === lines.length) {
    while (cut > 0 && /^\s*(?:>|$)/.test(lines[cut - 1]!)) cut--;
    // Empty lines alone are no quote.
    if (!lines.slice(cut).some(isQuoted)) return text;
  }
  const own = lines.slice(0, cut).join("\n").trimEnd();
  return own.trim() === "" ? text : own;
}

/** The line that what is quoted begins with; the number of lines where nothing introduces it. */
function* firstQuote(lines: readonly string[]): Sliced<number> {
  let left = MAX_EXAMINED_LINES;
  for (const [i, line] of lines.entries()) {
    if (i % LINES_A_TURN === 0) yield null;
    if (isQuoted(line)) continue;
    if (isRule(line) || isOriginalMessage(line)) return i;
    if (left === 0) continue;
    const hasLabel = FROM_LABEL.test(line.slice(0, LABEL_CHARACTERS));
    const mayIntroduce = line.length <= MAX_SPAN_CHARACTERS && /[:：]\s*$/.test(line);
    if (hasLabel || mayIntroduce) left--;
    if (hasLabel && isOutlookBlock(lines, i)) return i;
    const start = mayIntroduce ? introductionStart(lines, i) : null;
    if (start !== null) return start;
  }
  return lines.length;
}

function isQuoted(line: string): boolean {
  return /^\s*>/.test(line);
}

function isRule(line: string): boolean {
  return line.includes("__________") && /^_+$/.test(line.trim());
}

function isOriginalMessage(line: string): boolean {
  return line.length < MAX_SPAN_CHARACTERS && line.includes("---") && ORIGINAL_MESSAGE.test(line);
}

/** Whether below a line with the label From stand those of Sent or Date, and To. */
function isOutlookBlock(lines: readonly string[], from: number): boolean {
  const below = lines.slice(from + 1, from + 1 + 2 * BLOCK_LINES)
    .filter((line) => line.trim() !== "").slice(0, BLOCK_LINES).map((line) =>
      line.slice(0, LABEL_CHARACTERS)
    );
  return below.some((line) => DATE_LABEL.test(line)) && below.some((line) => TO_LABEL.test(line));
}

/** Where an introduction begins that ends with the colon of a line; null where none does. */
function introductionStart(lines: readonly string[], end: number): number | null {
  const starts: number[] = [];
  let length = 0;
  for (let start = end; start >= 0 && start > end - MAX_SPAN_LINES; start--) {
    const line = lines[start]!;
    length += line.length + (start < end ? 1 : 0);
    if (length > MAX_SPAN_CHARACTERS || line.trim() === "" || isQuoted(line)) break;
    starts.push(start);
  }
  const spanFrom = (start: number) => lines.slice(start, end + 1).join(" ");
  const found = starts.find((start) => isIntroduction(spanFrom(start))) ??
    starts.find((start) => hasAddress(spanFrom(start)) && WROTE_WORDS.test(spanFrom(start))) ??
    (isQuoted(lines.slice(end + 1, end + 3).find((line) => line.trim() !== "") ?? "")
      ? starts.find((start) => WROTE_WORDS.test(spanFrom(start)))
      : undefined);
  if (found === undefined) return null;
  // What was wrapped may begin higher: where the sentence does, or with a name and an address.
  const higher: number[] = [];
  for (const start of starts.filter((start) => start < found)) {
    if (/[.!?;:\u2026]["')\u201d]?\s*$/.test(lines[start]!)) break;
    higher.push(start);
  }
  return higher.find((start) => INTRODUCTION_START.test(lines[start]!)) ??
    higher.find((start) => hasAddress(lines[start]!) || hasDate(lines[start]!)) ?? found;
}

function isIntroduction(span: string): boolean {
  return hasDate(span) && (hasAddress(span) || WROTE_WORDS.test(span));
}

function hasAddress(span: string): boolean {
  return ADDRESS.test(span);
}

function hasDate(given: string): boolean {
  const span = given.replaceAll(
    /[\u0660-\u0669\u06f0-\u06f9]/g,
    (digit) => String(digit.charCodeAt(0) & 0xf),
  );
  if (DATES.some((date) => date.test(span))) return true;
  const withoutYear = span.replaceAll(YEAR, "");
  return withoutYear !== span && SHORT_NUMBER.test(withoutYear);
}
