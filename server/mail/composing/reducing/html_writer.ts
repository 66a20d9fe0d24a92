/**
 * Writes HTML that every program reads alike: each element is ended where it ends, and stands only where
 * no reader would move it or end it earlier (HTML, section 13.2.6.4). Pure; each call looks at so many
 * open elements at most.
 */
import { cleanText, escapeHtml, withoutLeading } from "./clean_text.ts";
import { BLOCKS, CELLS, HEADINGS, SECTIONS, TABLE_PARTS } from "./element_rules.ts";
import { FIRST_REDUCED_LOOK, type ReducedLook } from "./reduce_attributes.ts";
import type { RemovedNames } from "./removed_names.ts";
import { type TableSpans, tableSpans } from "./table_spans.ts";

export interface WrittenElement {
  name: string;
  look: ReducedLook;
  isOpen: boolean;
  /** Set for a table. */
  spans: TableSpans | null;
  /** Whether a table has parts already. */
  hasParts: boolean;
  /** Whether it was opened for lines from the right. */
  isRun: boolean;
}

export interface HtmlWriter {
  /**
   * Ends what cannot stand around an element, and opens what a table lacks around one of its parts.
   * @returns whether the element may stand there
   */
  makeRoom(name: string): boolean;
  /** The innermost element. */
  look(): ReducedLook;
  has(name: string): boolean;
  /** Spans of the table that a cell stands in. */
  spans(): TableSpans;
  /** @param written its attributes, escaped, each with a space before it */
  open(name: string, written: string, look: ReducedLook): WrittenElement;
  /** Ends an element with all in it; one that has ended already stays so. */
  close(element: WrittenElement): void;
  /** An element without content. */
  single(name: string, written: string): void;
  text(chars: string): void;
  result(): string;
}

/** Deeper ones are read differently by different programs. */
const MOST_OPEN = 100;
const TABLE_CONTEXT: ReadonlySet<string> = new Set([...SECTIONS, "table", "tr"]);
/** What ends outside of them does not end in them. */
const BOUNDARIES: ReadonlySet<string> = new Set([...CELLS, "caption", "table"]);

export function htmlWriter(removed: RemovedNames): HtmlWriter {
  const written: string[] = [];
  const open: WrittenElement[] = [];
  /** For each name, where its elements stand in `open`. */
  const places = new Map<string, number[]>();
  /** Text that no element has followed yet: what is invisible is told by what stands beside it. */
  let text: string[] = [];
  let lastCharacters = "";
  let isAfterPre = false;

  const top = () => open.at(-1);
  const lookOfTop = () => top()?.look ?? FIRST_REDUCED_LOOK;
  const lastOf = (name: string) => places.get(name)?.at(-1) ?? -1;
  const lastIn = (names: ReadonlySet<string>) => {
    let last = -1;
    for (const name of names) last = Math.max(last, lastOf(name));
    return last;
  };
  const isInTableContext = () => TABLE_CONTEXT.has(top()?.name ?? "");

  function endText(): void {
    if (text.length === 0) return;
    const cleaned = cleanText(text.join(""), lastOf("pre") >= 0);
    text = [];
    if (cleaned.hadInvisible) removed.add("invisible_characters");
    if (cleaned.hadWideGap) removed.add("wide_gaps");
    const shown = withoutLeading(cleaned.text, lastCharacters);
    if (shown.length !== cleaned.text.length) removed.add("invisible_characters");
    if (shown === "") return;
    lastCharacters = shown.slice(-2);
    // The first line end in a pre is not read.
    if (isAfterPre && shown.startsWith("\n")) written.push("\n");
    isAfterPre = false;
    written.push(escapeHtml(shown));
  }

  function write(tag: string): void {
    endText();
    isAfterPre = false;
    written.push(tag);
  }

  function popTo(depth: number): void {
    while (open.length > depth) {
      const element = top()!;
      write(`</${element.name}>`);
      element.isOpen = false;
      places.get(element.name)!.pop();
      open.pop();
    }
  }

  function push(name: string, attributes: string, look: ReducedLook): WrittenElement {
    write(`<${name}${attributes}>`);
    const spans = name === "table" ? tableSpans() : null;
    const table = open[lastOf("table")];
    if (TABLE_PARTS.has(name) && table !== undefined) {
      table.hasParts = true;
      if (SECTIONS.has(name)) table.spans!.section();
      if (name === "tr") table.spans!.row();
    }
    const element = { name, look, isOpen: true, spans, hasParts: false, isRun: false };
    const same = places.get(name);
    if (same === undefined) places.set(name, [open.length]);
    else same.push(open.length);
    open.push(element);
    if (name === "pre") isAfterPre = true;
    return element;
  }

  function openPlain(name: string): void {
    push(name, "", lookOfTop());
  }

  function makeRoomInTable(name: string): boolean {
    const table = lastOf("table");
    if (table < 0) return false;
    if (name === "caption") return table === open.length - 1 && !open[table]!.hasParts;
    if (SECTIONS.has(name)) {
      popTo(table + 1);
      return true;
    }
    const row = lastOf("tr");
    if (CELLS.has(name) && row > table) {
      popTo(row + 1);
      return true;
    }
    const section = lastIn(SECTIONS);
    popTo((section > table ? section : table) + 1);
    if (section < table) openPlain("tbody");
    if (CELLS.has(name)) openPlain("tr");
    return true;
  }

  /** Puts text that would stand between cells into a cell. */
  function openCell(): void {
    if (!isInTableContext()) return;
    makeRoomInTable("td");
    open[lastOf("table")]!.spans!.cell(1, 1);
    openPlain("td");
  }

  /** Writes a block's content from the right where its lines would come from there. */
  function openRun(): void {
    const around = lookOfTop();
    const isInBlock = BLOCKS.has(top()?.name ?? "p");
    if (around.lines !== "rtl" || !isInBlock || open.length >= MOST_OPEN) return;
    push("span", ' dir="rtl"', { ...around, direction: "rtl" }).isRun = true;
  }

  function endRun(): void {
    const run = open.findLastIndex((one) => one.isRun);
    if (run >= 0) popTo(run);
  }

  /** Ends the innermost of these, unless one of the others stands within it. */
  function endWithin(names: ReadonlySet<string>, inner: ReadonlySet<string>): void {
    const at = lastIn(names);
    if (at > Math.max(lastIn(inner), lastIn(BOUNDARIES))) popTo(at);
  }

  return {
    makeRoom(name) {
      if (TABLE_PARTS.has(name)) return makeRoomInTable(name);
      if (isInTableContext()) {
        if (name !== "img" && name !== "table") return false;
        openCell();
      }
      if (BLOCKS.has(name)) {
        if (lastOf("caption") > lastOf("table")) return false;
        endRun();
        endWithin(PARAGRAPH, NONE);
        if (HEADINGS.has(name)) endWithin(HEADINGS, NONE);
        if (name === "li") endWithin(LIST_ITEM, LISTS);
        if (name === "dt" || name === "dd") endWithin(TERMS, TERM_LIST);
      } else openRun();
      if (name === "a" && lastOf("a") >= 0) return false;
      if (open.length < MOST_OPEN) return true;
      removed.add("nesting");
      return false;
    },
    look: lookOfTop,
    has: (name) => lastOf(name) >= 0,
    spans: () => open[lastOf("table")]!.spans!,
    open: push,
    close(element) {
      if (element.isOpen) popTo(open.indexOf(element));
    },
    single(name, attributes) {
      write(`<${name}${attributes}>`);
    },
    text(chars) {
      if (isInTableContext()) {
        if (/^\s*$/.test(chars)) return;
        openCell();
      }
      if (!/^\s*$/.test(chars)) openRun();
      text.push(chars);
    },
    result() {
      popTo(0);
      endText();
      return written.join("");
    },
  };
}

const PARAGRAPH: ReadonlySet<string> = new Set(["p"]);
const LIST_ITEM: ReadonlySet<string> = new Set(["li"]);
const LISTS: ReadonlySet<string> = new Set(["ul", "ol"]);
const TERMS: ReadonlySet<string> = new Set(["dt", "dd"]);
const TERM_LIST: ReadonlySet<string> = new Set(["dl"]);
const NONE: ReadonlySet<string> = new Set();
