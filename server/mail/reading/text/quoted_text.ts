/** The lines of a text, and which of them are a quote: by `>`, or by the HTML that they come from. Pure. */
import { isMarkedHeader } from "./former_mail.ts";
import type { QuotedLines, QuoteKind } from "../html/html_quotes.ts";

export interface QuotedText {
  readonly lines: readonly string[];
  /** What the HTML says of a line; null for nothing. */
  kindOf(line: number): QuoteKind | null;
  /** Whether a line is marked as somebody else's. */
  isQuote(line: number): boolean;
  /** Whether an author's own quote begins with a line. */
  beginsBlockquote(line: number): boolean;
  /** Whether HTML marks a line as the first of a former mail, and it looks like one. */
  beginsFormer(line: number): boolean;
  /** A line without its marks. */
  unquoted(line: number): string;
  /**
   * The line below the quote that a line stands in; empty lines between its parts belong to it.
   * @param most lines that are looked at, where only its beginning matters
   */
  quoteEnd(line: number, most?: number): number;
  /** The first line that is not empty, from this one on. */
  nextWritten(line: number): number;
  /** The line below a former mail: its header and a marked quote, else the end. */
  formerEnd(header: number): number;
  /** Where a rule begins that stands directly above a line; the line itself where none does. */
  ruleAbove(line: number, floor: number): number;
}

/** What is looked at at once. */
const LINES_A_SLICE = 2_048;
const MARKS = /^[\s>]*/;
const MAX_LINK_CHARACTERS = 2_000;
const RULE = /^\s{0,9}[_*=-]{5,400}\s{0,9}$/;
/** Lines of a header, wrapped ones among them. */
const HEADER_LINES = 16;
const KINDS: readonly (QuoteKind | null)[] = [
  null,
  "quote",
  "blockquote",
  "attribution",
  "former",
];

/** @param quotes what HTML marks, in order; empty for plain text */
export function quotedText(lines: readonly string[], quotes: readonly QuotedLines[]): QuotedText {
  const kinds = quotes.length === 0 ? null : new Uint8Array(lines.length);
  for (const [i, { line, kind }] of quotes.entries()) {
    kinds!.fill(KINDS.indexOf(kind), line, quotes[i + 1]?.line ?? lines.length);
  }
  const kindOf = (line: number) => KINDS[kinds?.[line] ?? 0]!;
  const isEmpty = (line: number) => lines[line]!.trim() === "";

  function isQuote(line: number): boolean {
    const kind = kindOf(line);
    return kind === "quote" || (kind !== "blockquote" &&
      (isMarked(lines, line) || isBroken(lines[line]!, lines[line - 1])));
  }

  function nextWritten(line: number): number {
    let at = line;
    while (at < lines.length && isEmpty(at)) at++;
    return at;
  }

  function quoteEnd(line: number, lookedAt = lines.length): number {
    const belongs = kindOf(line) === "blockquote"
      ? (at: number) => kindOf(at) === "blockquote" || isQuote(at)
      : isQuote;
    // Text beyond a slice has to be a quote again, except in a blockquote, which its beginning decides.
    const most = Math.min(
      line + (belongs === isQuote ? Math.min(LINES_A_SLICE, lookedAt) : lookedAt),
      lines.length,
    );
    let end = line + 1;
    for (let at = end; at < most; at++) {
      if (belongs(at)) end = at + 1;
      else if (!isEmpty(at)) break;
    }
    return end;
  }

  return {
    lines,
    kindOf,
    isQuote,
    beginsBlockquote: (line) =>
      kindOf(line) === "blockquote" && (line === 0 || kindOf(line - 1) !== "blockquote"),
    beginsFormer: (line) =>
      kindOf(line) === "former" && (line === 0 || kindOf(line - 1) !== "former") &&
      isMarkedHeader(lines, line),
    unquoted: (line) => lines[line]!.replace(MARKS, ""),
    quoteEnd,
    nextWritten,
    formerEnd(header) {
      let at = nextWritten(header + 1);
      const most = Math.min(lines.length, at + HEADER_LINES);
      while (at < most && !isEmpty(at) && !isQuote(at)) at++;
      const below = nextWritten(at);
      return below < lines.length && isQuote(below) ? quoteEnd(below) : lines.length;
    },
    ruleAbove(line, floor) {
      let at = line;
      while (at > floor && isEmpty(at - 1)) at--;
      return at > floor && RULE.test(lines[at - 1]!) ? at - 1 : line;
    },
  };
}

function isMarked(lines: readonly string[], at: number): boolean {
  const line = lines[at]!;
  if (!/^\s*>/.test(line)) return false;
  const above = lines[at - 1];
  // Mailboxes in files put it before a line of text that begins so.
  const isAlone = ![above, lines[at + 1]].some((other) => other?.startsWith(">"));
  if (line.startsWith(">From ") && isAlone) return false;
  // ">>> visit us <<<" is decoration.
  if (line.trimEnd().endsWith("<<")) return false;
  // A link in brackets that was wrapped ends here.
  const open = above === undefined ? -1 : above.lastIndexOf("<");
  return open < 0 || !/^<(?:https?:|mailto:)[^>\s]*$/i.test(above!.slice(open));
}

/** Whether a line is what wrapping left of the quoted line above: the end of its link, or `... >`. */
function isBroken(line: string, above: string | undefined): boolean {
  if (above === undefined || !/^\s*>/.test(above) || line.length > MAX_LINK_CHARACTERS) {
    return false;
  }
  if (/^\s?\(https?:[^\s()]*\)\s>\s*$/.test(line)) return true;
  const open = Math.max(above.lastIndexOf("(http"), above.lastIndexOf("<http"));
  return open >= 0 && !/[\s)>]/.test(above.slice(open + 1)) && /^[^\s()<>]+[)>]\s*$/.test(line);
}
