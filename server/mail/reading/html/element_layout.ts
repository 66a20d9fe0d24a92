/** Which elements of HTML begin lines, lists, rows and quotes. */
import type { TextLayout } from "./text_layout.ts";

export interface ElementLayout {
  /**
   * @param display what CSS says of it, where it says something
   * @param number `start` of a list, `value` of an item
   */
  begin(name: string, display: string | undefined, number: string | undefined): void;
  end(name: string, display: string | undefined): void;
}

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));
/** An empty line above and below. */
const PARAGRAPHS = names("blockquote dl figure h1 h2 h3 h4 h5 h6 hr p pre");
/** A line of their own. */
const LINES = names(`address article aside body caption center dd details dialog div dt fieldset
  figcaption footer form header hgroup html legend listing main nav optgroup option plaintext search
  section summary table tbody tfoot thead xmp`);
const LISTS = names("dir menu ol ul");
const CELLS = names("td th");

export function elementLayout(layout: TextLayout): ElementLayout {
  /** The number of the next item of each open list; null without numbers. */
  const lists: (number | null)[] = [];

  function edge(name: string, display: string | undefined): void {
    if (display !== undefined && /^(?:inline|contents)/.test(display)) return;
    if (PARAGRAPHS.has(name)) layout.block(2);
    else if (LINES.has(name)) layout.block(1);
    else if (
      !CELLS.has(name) && /^(?:block|flex|grid|table|list-item|flow-root)$/.test(display ?? "")
    ) {
      layout.block(1);
    }
  }

  return {
    begin(name, display, number) {
      edge(name, display);
      if (name === "br") layout.lineBreak();
      else if (name === "tr") layout.row(1);
      else if (CELLS.has(name)) layout.cell();
      else if (name === "blockquote") layout.nestQuote(1);
      else if (name === "li") layout.item(marker(number));
      else if (LISTS.has(name)) {
        layout.block(lists.length === 0 ? 2 : 1);
        lists.push(name === "ol" ? toNumber(number) ?? 1 : null);
        layout.nestList(1);
      }
    },
    end(name, display) {
      if (name === "tr") layout.row(-1);
      else if (name === "blockquote") layout.nestQuote(-1);
      else if (name === "li") layout.item("");
      else if (LISTS.has(name)) {
        lists.pop();
        layout.nestList(-1);
        layout.block(lists.length === 0 ? 2 : 1);
      }
      edge(name, display);
    },
  };

  function marker(value: string | undefined): string {
    const next = lists.at(-1);
    if (next === undefined || next === null) return "- ";
    const number = toNumber(value) ?? next;
    lists[lists.length - 1] = number + 1;
    return `${number}. `;
  }
}

function toNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s{0,9}-?\d{1,9}/.test(text) ? parseInt(text, 10) : undefined;
}
