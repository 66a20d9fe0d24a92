/** The lines that mail programs introduce a quote with: "On ..., Anna wrote:". Pure; bounded. */
import { INNER_START, INTRODUCTION_START, WROTE_WORDS } from "./quote_introductions.ts";

/** The lines and characters that an attribution has at most. */
const MAX_SPAN_LINES = 3;
export const MAX_SPAN_CHARACTERS = 400;

/** A day with its year, in digits or with the month as a word; a year alone is none. */
const DATES = [
  /(?<!\d)\d{1,2}[./-]\s?\d{1,2}[./-]\s?\d{2,4}(?!\d)/u,
  /(?<!\d)\d{4}[./-]\s?\d{1,2}[./-]\s?\d{1,2}(?!\d)/u,
  /\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일]/u,
];
const YEAR = /(?<!\d)(?:19|20|25)\d\d(?!\d)/g;
const SHORT_NUMBER = /(?<!\d)\d{1,2}(?!\d)/;
const ADDRESS = /[^\s<>@:"]@[^\s<>@:"]+\.[^\s<>@:"]/;
/** An address, and then nothing but the colon. */
const ENDS_WITH_ADDRESS = /@[^\s<>@:"]+[>)\]]{0,3}\s?[:：]\s*$/;
/** A day or its name. */
const BEGINS_WITH_DATE = /^\s{0,9}(?:\p{L}{1,12}\.?,?\s{0,3})?\d/u;
const TIME = /(?<!\d)\d{1,2}\s?[:h時点點시]\s?\d{2}(?!\d)|klo?\.?\s\d{1,2}\.\d{2}/iu;
/** Words of languages in one line that may begin an attribution. */
const MAX_BEGINNINGS = 8;
/** A name, its address, and no more than a word. */
const NAME_AND_ADDRESS = /^\s{0,9}[^<>@:.!?\n]{1,80}<[^<>@\s]+@[^<>@\s]+>\s[^\s:]{1,20}:\s*$/u;
/** A date and an address alone, as an old program wrote them. */
const DATE_AND_ADDRESS = /^\s{0,9}\d{4}[/-]\d{1,2}[/-]\d{1,2}\s[^\n]*@[^\s<>]+>\s*$/;

export interface Attribution {
  /** The line that it begins in. */
  start: number;
  /** An answer that stands before it in that line; "" where there is none. */
  before: string;
  /** Whether it needs no quote below it to be one. */
  isCertain: boolean;
}

/** Whether a line may be the last one of an attribution; cheap. */
export function mayEndAttribution(line: string): boolean {
  return endsAsOne(line) || (line.length <= MAX_SPAN_CHARACTERS && DATE_AND_ADDRESS.test(line));
}

/** With a colon, or the dashes that some programs write on both sides. */
function endsAsOne(line: string): boolean {
  const end = line.slice(-MAX_SPAN_CHARACTERS).trimEnd();
  return /[:：]$/.test(end.slice(-1)) ||
    (end.endsWith("--") && /[^\s-]\s?-+$/.test(end.slice(-64)));
}

/**
 * The attribution that ends with a line; null where there is none.
 * @param floor lines above this one belong to something else
 * @param isAboveQuote whether what is below is marked as a quote
 */
export function attributionAt(
  lines: readonly string[],
  end: number,
  { floor, isAboveQuote }: { floor: number; isAboveQuote: boolean },
): Attribution | null {
  const last = lines[end]!;
  if (last.length > MAX_SPAN_CHARACTERS) return innerAttribution(last, end);
  const starts: number[] = [];
  let length = 0;
  for (let start = end; start >= floor && start > end - MAX_SPAN_LINES; start--) {
    const line = lines[start]!;
    length += line.length + (start < end ? 1 : 0);
    if (length > MAX_SPAN_CHARACTERS || line.trim() === "" || line.startsWith(">")) break;
    starts.push(start);
  }
  const spanFrom = (start: number) => lines.slice(start, end + 1).join(" ");
  const dated = starts.find((start) => isDated(spanFrom(start)));
  const found = dated ?? starts.find((start) => isCertain(spanFrom(start))) ??
    (isAboveQuote
      ? starts.find((start) => hasAddress(spanFrom(start)) && isWritten(spanFrom(start))) ??
        starts.find((start) => isWritten(spanFrom(start)))
      : undefined);
  if (found === undefined) return null;
  const start = higherStart(lines, starts, found);
  const inner = innerAttribution(lines.slice(start, end + 1).join("\n"), start);
  if (inner !== null) return inner;
  return { start, before: "", isCertain: isCertain(spanFrom(start)) };
}

/** What was wrapped may begin higher: where the sentence does, or with a name and an address. */
function higherStart(lines: readonly string[], starts: readonly number[], found: number): number {
  const higher: number[] = [];
  for (const start of starts.filter((start) => start < found)) {
    if (/[.!?;:\u2026]["')\u201d]?\s*$/.test(lines[start]!)) break;
    higher.push(start);
  }
  if (INTRODUCTION_START.test(lines[found]!)) return found;
  // A name stands before an address in brackets.
  const name = /^\s*</.test(lines[found]!) ? higher[0] : undefined;
  return higher.find((start) => INTRODUCTION_START.test(lines[start]!)) ??
    name ??
    higher.find((start) => hasAddress(lines[start]!) || hasDate(lines[start]!)) ?? found;
}

/** One that stands in a line behind an answer: "Yes. On 3 May 2024, Ann wrote:". */
function innerAttribution(span: string, line: number): Attribution | null {
  const tail = Math.max(0, span.length - MAX_SPAN_CHARACTERS);
  const beginnings = [...span.slice(tail).matchAll(INNER_START)].map(({ index }) => tail + index);
  const start = beginnings.slice(-MAX_BEGINNINGS).findLast((at) => isDated(span.slice(at)));
  if (start === undefined) return null;
  const before = span.slice(0, start).replace(/-{2,60}\s{0,9}$/, "").trimEnd();
  if (before.trim() === "" || before.includes("\n")) return null;
  // "W dniu 3 maja" and the like hold a word that another language begins with.
  if (INTRODUCTION_START.test(span) && !/[.!?\u2026)]$/.test(before)) return null;
  if (BEGINS_WITH_DATE.test(before)) return null;
  return { start: line, before, isCertain: isCertain(span.slice(start)) };
}

/** A date, and who wrote. */
function isDated(span: string): boolean {
  if (!endsAsOne(span)) return DATE_AND_ADDRESS.test(span);
  return hasDate(span) && (hasAddress(span) || isWritten(span));
}

function isCertain(span: string): boolean {
  if (NAME_AND_ADDRESS.test(span)) return isWritten(span);
  if (!hasDate(span)) return false;
  const begins = INTRODUCTION_START.test(span) || BEGINS_WITH_DATE.test(span);
  if (!isWritten(span)) return begins && ENDS_WITH_ADDRESS.test(span);
  // People who write "On 3 May 2024 you wrote:" give neither.
  return hasAddress(span) || (begins && TIME.test(span));
}

function isWritten(span: string): boolean {
  return WROTE_WORDS.test(span);
}

/** Whether an address stands in a text. */
export function hasAddress(span: string): boolean {
  return ADDRESS.test(span.slice(0, MAX_SPAN_CHARACTERS));
}

/** Whether a day with its year stands in a text. */
export function hasDate(given: string): boolean {
  const span = given.slice(0, MAX_SPAN_CHARACTERS).replaceAll(
    /[\u0660-\u0669\u06f0-\u06f9]/g,
    (digit) => String(digit.charCodeAt(0) & 0xf),
  );
  if (DATES.some((date) => date.test(span))) return true;
  const withoutYear = span.replaceAll(YEAR, "");
  return withoutYear !== span && SHORT_NUMBER.test(withoutYear);
}
