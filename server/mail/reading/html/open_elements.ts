/**
 * Which elements are open, without a tree: which tags end which elements, where that can
 * hide text (HTML, section 13.2.6.4). Each tag costs a constant number of looks.
 */

export interface OpenElement<T> {
  name: string;
  content: T;
}

export interface OpenElements<T> {
  /** The innermost; undefined where none is open. */
  top(): OpenElement<T> | undefined;
  depth(): number;
  /** From here on a table ends a p that is open. */
  nestAsStandard(): void;
  /** Whether one of this name is open. */
  has(name: string): boolean;
  /** Whether a start tag opens nothing: a second html, body or form, or a form between cells. */
  ignores(name: string): boolean;
  /** Ends what a start tag of this name ends before it opens. */
  makeRoomFor(name: string): void;
  push(element: OpenElement<T>): void;
  /** An end tag. Of a name that is not open it does nothing. */
  close(name: string): void;
  /** What a formatting element left behind that an end tag of another one ended; taken once. */
  takeLingering(): OpenElement<T>[];
  closeAll(): void;
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));
const FORMATTING = words("a b big code em font i nobr s small strike strong tt u");
const HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"];
const CELLS = ["td", "th", "caption"];
const SECTIONS = ["tbody", "thead", "tfoot"];
const TABLE_PARTS = words("caption col colgroup tbody td tfoot th thead tr");
/** They end a p that is open; a table does only where the document keeps to the standard. */
const BLOCKS = words(
  `address article aside blockquote center dd details dialog dir div dl dt fieldset
  figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p
  plaintext pre search section summary table ul xmp`,
);
/** End tags of other names do not reach through them. */
const SPECIAL = words(
  `address applet article aside blockquote body button caption center colgroup dd
  details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup html
  iframe li listing main marquee menu nav object ol p plaintext pre search section select summary
  table tbody td textarea tfoot th thead tr ul xmp`,
);
/** No end tag of an element outside reaches into them. */
const SCOPES = words("applet caption html marquee object table td th");
const NEVER_CLOSED = words("body html");
/** How many formatting elements outlive what they stand in. Each costs work at every later text. */
const MAX_LINGERING = 4;

/**
 * @param onClose called for each element that ends
 * @param lingers whether a formatting element has an effect that outlives a wrong nesting, and
 *   whether it matters more than others
 */
export function openElements<T>(
  onClose: (element: OpenElement<T>) => void,
  lingers: (element: OpenElement<T>) => "no" | "yes" | "first",
): OpenElements<T> {
  const stack: (OpenElement<T> & { isClosed: boolean; isSpecial: boolean })[] = [];
  const positions = new Map<string, number[]>();
  const scopes: number[] = [];
  const specials: number[] = [];
  /** Specials but address, div and p: a new list item does not end an older one outside them. */
  const strictSpecials: number[] = [];
  let lingering: OpenElement<T>[] = [];
  /** What lingers around the cells that are open, and not in them. */
  const outside: OpenElement<T>[][] = [];

  let tableEndsParagraph = false;
  /** Only its own end tag lets another form begin, whatever else has ended it. */
  let hasForm = false;

  const last = (name: string) => positions.get(name)?.at(-1) ?? -1;
  const lastOf = (names: readonly string[]) => Math.max(...names.map(last));
  const end = (indices: readonly number[]) => indices.at(-1) ?? -1;
  const forget = (indices: number[] | undefined, index: number) => {
    if (indices?.at(-1) === index) indices.pop();
  };

  function popTo(index: number, closing?: string): void {
    while (stack.length > index) {
      const element = stack.pop()!;
      const at = stack.length;
      forget(scopes, at);
      forget(specials, at);
      forget(strictSpecials, at);
      if (element.isClosed) continue;
      forget(positions.get(element.name), at);
      onClose(element);
      if (element.isSpecial && CELLS.includes(element.name)) lingering = outside.pop() ?? [];
      if (FORMATTING.has(element.name) && !(at === index && element.name === closing)) {
        linger(element);
      }
    }
  }

  function linger(element: OpenElement<T>): void {
    const weight = lingers(element);
    if (weight === "no") return;
    if (lingering.length < MAX_LINGERING) lingering.unshift(element);
    else if (weight === "first") {
      const other = lingering.findIndex((former) => lingers(former) !== "first");
      if (other >= 0) lingering.splice(other, 1, element);
    }
  }

  /** Ends an element that others stand in, and leaves these open. */
  function closeAlone(index: number): void {
    const element = stack[index]!;
    element.isClosed = true;
    positions.get(element.name)!.pop();
    onClose(element);
  }

  function closeFormatting(name: string): void {
    const at = last(name);
    if (at > end(scopes)) {
      if (end(specials) < at) popTo(at, name);
      else closeAlone(at);
      return;
    }
    const left = lingering.findLastIndex((element) => element.name === name);
    if (left >= 0) lingering.splice(left, 1);
  }

  function makeRoomInTable(name: string): void {
    const table = last("table");
    if (table < 0) return;
    const section = lastOf(SECTIONS);
    const row = last("tr");
    if ((name === "td" || name === "th") && row > table) popTo(row + 1);
    else if ((name === "tr" || name === "td" || name === "th") && section > table) {
      popTo(section + 1);
    } else popTo(table + 1);
  }

  return {
    top: () => stack.at(-1),
    depth: () => stack.length,
    nestAsStandard() {
      tableEndsParagraph = true;
    },
    has: (name) => last(name) >= 0,
    ignores(name) {
      if (name === "form") return hasForm || last("table") > lastOf(CELLS);
      return NEVER_CLOSED.has(name) && last(name) >= 0;
    },
    makeRoomFor(name) {
      if (TABLE_PARTS.has(name)) makeRoomInTable(name);
      if (name === "table") {
        const table = last("table");
        if (table >= 0 && lastOf(CELLS) < table) popTo(table);
      }
      const endsParagraph = name === "table" ? tableEndsParagraph : BLOCKS.has(name);
      if (endsParagraph && last("p") > Math.max(end(scopes), last("button"))) popTo(last("p"));
      if (name === "li" && last("li") >= Math.max(end(strictSpecials), 0)) popTo(last("li"));
      if (name === "dd" || name === "dt") {
        const item = lastOf(["dd", "dt"]);
        if (item >= Math.max(end(strictSpecials), 0)) popTo(item);
      }
      if (HEADINGS.includes(name) && HEADINGS.includes(stack.at(-1)?.name ?? "")) {
        popTo(stack.length - 1);
      }
      if (name === "a" && last("a") > end(scopes)) closeFormatting("a");
      if (name === "button" && last("button") > end(scopes)) popTo(last("button"));
      if (/^opt(?:ion|group)$/.test(name) && stack.at(-1)?.name === "option") {
        popTo(stack.length - 1);
      }
    },
    push({ name, content }) {
      if (name === "form") hasForm = true;
      const isSpecial = SPECIAL.has(name) && (last("table") >= 0 || !TABLE_PARTS.has(name));
      const at = stack.length;
      stack.push({ name, content, isClosed: false, isSpecial });
      const same = positions.get(name);
      if (same === undefined) positions.set(name, [at]);
      else same.push(at);
      if (!isSpecial) return;
      specials.push(at);
      if (!/^(?:address|div|p)$/.test(name)) strictSpecials.push(at);
      if (SCOPES.has(name)) scopes.push(at);
      if (!CELLS.includes(name)) return;
      outside.push(lingering);
      lingering = [];
    },
    close(name) {
      if (NEVER_CLOSED.has(name)) return;
      if (name === "form") hasForm = false;
      if (FORMATTING.has(name)) return closeFormatting(name);
      const at = HEADINGS.includes(name) ? lastOf(HEADINGS) : last(name);
      if (at < 0) return;
      if (name === "form") return closeAlone(at);
      if (!stack[at]!.isSpecial) {
        // A cell outside of tables is none: its end tag ends nothing else.
        if (TABLE_PARTS.has(name) && at < stack.length - 1) return;
        if (at > end(specials)) popTo(at);
        return;
      }
      // A part of a table is reached through all but an inner table.
      if (TABLE_PARTS.has(name) ? at > last("table") : name === "table") return popTo(at);
      let bound = end(scopes);
      if (bound === at) bound = scopes.at(-2) ?? -1;
      if (name === "li") bound = Math.max(bound, lastOf(["ol", "ul"]));
      if (name === "p") bound = Math.max(bound, last("button"));
      if (at > bound) popTo(at);
    },
    takeLingering() {
      const taken = lingering;
      if (taken.length > 0) lingering = [];
      return taken;
    },
    closeAll: () => popTo(0),
  };
}
