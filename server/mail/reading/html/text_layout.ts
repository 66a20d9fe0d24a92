/** Text as it is laid out: lines, blocks, lists, cells, quotes. Bounded by what it is given. */
import type { QuotedLines, QuoteKind } from "./html_quotes.ts";

export interface TextLayout {
  /** Text in a line, its white space collapsed. */
  text(chars: string): void;
  /** Text whose spaces and line ends stay. */
  preformatted(chars: string): void;
  /** Directly behind what was written, also where a block has ended since. */
  suffix(chars: string): void;
  /** The next text begins a line, or with 2 stands below an empty one. */
  block(breaks: 1 | 2): void;
  lineBreak(): void;
  /** A row of a table begins (1) and ends (-1). */
  row(by: 1 | -1): void;
  /** The next text stands in another cell: behind a tab while the row fits into one line. */
  cell(): void;
  /** The next text is an item of a list, behind a number or a bullet; "" where the item ended. */
  item(marker: string): void;
  /** Lists and quotes that begin (1) and end (-1). */
  nestList(by: 1 | -1): void;
  nestQuote(by: 1 | -1): void;
  /** What follows is quoted (1), and no longer (-1); a former mail goes on to the end. */
  markQuote(kind: QuoteKind, by: 1 | -1): void;
  result(): string;
  /** Which lines of the result are quoted, by what their first word is. */
  quotedLines(): QuotedLines[];
}

/** Deeper lists and quotes look like these. */
const MAX_SHOWN_DEPTH = 10;
/** The first of several counts. */
const KINDS: readonly QuoteKind[] = ["former", "quote", "attribution", "blockquote"];
/** One empty line tells blocks apart. */
const MAX_BREAKS = 2;

/** @param maxCharacters what is written at most; the rest is dropped */
export function textLayout(maxCharacters: number): TextLayout {
  const out: string[] = [];
  /** Words that are not part of a text yet: millions of them would take more than the text. */
  let words: string[] = [];
  /** On which line each open row began; -1 where it has no text yet. */
  const rows: number[] = [];
  let line = 0;
  let left = maxCharacters;
  let breaks = 0;
  let isLineEmpty = true;
  let hasSpace = false;
  let hasCell = false;
  let marker = "";
  let lists = 0;
  let quotes = 0;
  const marks: Record<QuoteKind, number> = { former: 0, quote: 0, attribution: 0, blockquote: 0 };
  const quoted: QuotedLines[] = [];
  let writtenLines = 0;

  function write(text: string): void {
    if (left <= 0) return;
    const written = text.length > left ? text.slice(0, left) : text;
    left -= written.length;
    words.push(written);
    if (words.length < 4_096) return;
    out.push(words.join(""));
    words = [];
  }

  function lineStart(): string {
    const indented = Math.min(lists, MAX_SHOWN_DEPTH) - (marker === "" ? 0 : 1);
    const start = "> ".repeat(Math.min(quotes, MAX_SHOWN_DEPTH)) +
      "  ".repeat(Math.max(indented, 0)) + marker;
    marker = "";
    return start;
  }

  /** Writes what stands before a text. */
  function begin(): void {
    if (breaks > 0 && left < maxCharacters) {
      const written = Math.min(breaks, left);
      write("\n".repeat(written));
      writtenLines += written;
      isLineEmpty = true;
      line++;
    }
    breaks = 0;
    for (let i = rows.length - 1; rows[i] === -1; i--) rows[i] = line;
    if (isLineEmpty) {
      tellQuote();
      write(lineStart());
    } else if (hasCell) write("\t");
    else if (hasSpace) write(" ");
    isLineEmpty = hasCell = hasSpace = false;
  }

  function tellQuote(): void {
    const kind = KINDS.find((kind) => marks[kind] > 0) ?? null;
    if (kind !== (quoted.at(-1)?.kind ?? null)) quoted.push({ line: writtenLines, kind });
  }

  function text(chars: string): void {
    const trimmed = chars.trim();
    if (trimmed.length < chars.length && /^\s/.test(chars)) hasSpace = true;
    if (trimmed === "") return;
    begin();
    write(/\s\s|[^\S ]/.test(trimmed) ? trimmed.replaceAll(/\s+/g, " ") : trimmed);
    hasSpace = /\s/.test(chars.slice(-1));
  }

  return {
    text,
    preformatted(chars) {
      for (const [i, line] of chars.split("\n").entries()) {
        if (i > 0) breaks++;
        if (line === "") continue;
        begin();
        write(line.replaceAll("\u00a0", " "));
      }
    },
    suffix(chars) {
      if (isLineEmpty) return text(chars);
      write(` ${chars}`);
    },
    block(wanted) {
      // What begins in another cell of the row begins behind its tab.
      if (hasCell && rows.length > 0) return;
      // So does what begins in an item, behind its bullet.
      if (marker !== "") return;
      breaks = Math.max(breaks, wanted);
      hasCell = hasSpace = false;
    },
    lineBreak() {
      breaks = Math.min(breaks + 1, Math.max(breaks, MAX_BREAKS));
      hasSpace = false;
    },
    row(by) {
      hasCell = false;
      breaks = Math.max(breaks, 1);
      if (by === 1) rows.push(-1);
      else rows.pop();
    },
    cell() {
      const began = rows.at(-1);
      if (began === -1) return;
      if (began !== undefined && began !== line) breaks = Math.max(breaks, 1);
      else if (!isLineEmpty) {
        if (began === line) breaks = 0;
        hasCell = true;
      }
    },
    item(given) {
      breaks = Math.max(breaks, 1);
      marker = given;
    },
    nestList: (by) => void (lists += by),
    nestQuote: (by) => void (quotes += by),
    markQuote(kind, by) {
      if (kind !== "former" || by === 1) marks[kind] += by;
    },
    quotedLines: () => quoted,
    result: () => out.join("") + words.join(""),
  };
}
