/** Where a former mail begins that is not marked as a quote line by line. Pure; bounded. */
import { hasAddress, hasDate } from "./attribution.ts";
import {
  BEFORE_LABEL,
  DATE_LABEL,
  FORWARDED_MESSAGE,
  FROM_LABEL,
  ORIGINAL_MESSAGE,
  SENT_LABEL,
  SUBJECT_LABEL,
  TO_LABEL,
} from "./quote_introductions.ts";

/** How many lines a header is looked for in, empty ones left out. */
const BLOCK_LINES = 8;
/** A label stands at the beginning of its line. */
const LABEL_CHARACTERS = 60;
/** Longer lines are no header. */
const MAX_LINE_CHARACTERS = 400;
const LABELS = [FROM_LABEL, DATE_LABEL, TO_LABEL, SUBJECT_LABEL];
/** A label of whatever language. */
const ANY_LABEL = /^\s{0,9}\*{0,2}\p{L}[^:：\n]{0,30}[:：]/u;

/** Whether a line is `-----Original Message-----` or a translation. */
export function isOriginalMessage(line: string): boolean {
  return line.length < MAX_LINE_CHARACTERS && line.includes("---") && ORIGINAL_MESSAGE.test(line);
}

/** Whether a line says that a mail is passed on below it. */
export function isForwardMark(line: string): boolean {
  if (line.length >= MAX_LINE_CHARACTERS || !/^\s{0,9}[-=_*]{2}|[:：]\s{0,9}$/.test(line)) {
    return false;
  }
  return FORWARDED_MESSAGE.test(line);
}

/** Whether a line begins with From, Sent or Date, To, Subject in any language. */
export function hasLabel(line: string): boolean {
  const start = line.slice(0, LABEL_CHARACTERS);
  if (!/[:：]/.test(start)) return false;
  return LABELS.some((label) => label.test(start));
}

/**
 * Whether the header of a mail begins with a line that hasLabel(): From, Sent or Date, To or Subject, in
 * any order, or two of them with an address and a date. A journey has From, To and Date too, so that
 * these three need an address, Subject or the word Sent.
 */
export function isMailHeader(lines: readonly string[], from: number): boolean {
  const [first = "", ...others] = blockAt(lines, from);
  const block = [...first.slice(0, MAX_LINE_CHARACTERS).split(BEFORE_LABEL), ...others];
  const find = (label: RegExp) => block.find((line) => label.test(line.slice(0, LABEL_CHARACTERS)));
  const date = find(DATE_LABEL);
  if (date === undefined) return false;
  const [sender, recipient, subject] = [FROM_LABEL, TO_LABEL, SUBJECT_LABEL].map(find);
  const isOfMail = subject !== undefined || SENT_LABEL.test(date.slice(0, LABEL_CHARACTERS));
  if (sender !== undefined && isOfMail && (recipient ?? subject) !== undefined) return true;
  return [sender, recipient].some((line) => line !== undefined && hasAddress(line)) &&
    (hasDate(date) || (sender !== undefined && recipient !== undefined));
}

/** Whether lines that HTML marks as the header of a former mail look like one, in any language. */
export function isMarkedHeader(lines: readonly string[], from: number): boolean {
  return blockAt(lines, from).slice(0, 4).filter((line) =>
    ANY_LABEL.test(line.slice(0, LABEL_CHARACTERS))
  ).length >= 2;
}

/** The lines of a header: labels, and what was wrapped below one. */
function blockAt(lines: readonly string[], from: number): string[] {
  const block: string[] = [];
  let isBelowEmpty = false;
  for (const line of lines.slice(from, from + 2 * BLOCK_LINES)) {
    if (line.trim() === "") isBelowEmpty = true;
    else if (isBelowEmpty && !ANY_LABEL.test(line.slice(0, LABEL_CHARACTERS))) break;
    else {
      block.push(line);
      isBelowEmpty = false;
    }
    if (block.length === BLOCK_LINES) break;
  }
  return block;
}
