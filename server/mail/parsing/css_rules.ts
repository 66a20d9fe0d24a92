/** The style sheets of a message, as far as simple selectors go. Pure; linear and bounded. */
import {
  type Declarations,
  type Declared,
  readDeclarations,
  splitOutside,
  unescape,
  withoutComments,
} from "./css_declarations.ts";

/** What of a message's style sheets is read, in UTF-16 units. */
export const MAX_CSS_CHARACTERS = 512 * 1024;
/** How many selectors are kept. */
export const MAX_SELECTORS = 10_000;
/** How many elements are kept with what holds for them, and how long their attributes may be. */
const MAX_KEPT = 1_000;
/** `p`, `.note`, `#top`, and the first with one of the others; `*` is every element. */
const SELECTOR = /^(\*|[a-z][a-z0-9]*)?([.#](?:[^\s.#:[\]>+~*(),"']|\\.)+)?$/i;
/** Specificity of an element, a class and an id; what stands in the element comes before them. */
const BY_ELEMENT = 1;
const BY_CLASS = 10;
const BY_ID = 100;
const INLINE = 1_000;

export interface CssRules {
  /** Whether no style sheet says anything of an element. */
  isEmpty: boolean;
  /** What holds for an element, its own `style` included. */
  declared(element: StyledElement): Declarations;
}

export interface StyledElement {
  name: string;
  /** Its attributes, "" for those that it has not. */
  id: string;
  classes: string;
  style: string;
}

/** Reads style sheets. Blocks of at-rules (@media, @font-face, ...) are skipped whole. */
export function readRules(sheets: readonly string[]): CssRules {
  const rules = new Map<string, Declarations>();
  let order = 0;
  let left = MAX_CSS_CHARACTERS;
  for (const sheet of sheets) {
    const css = withoutComments(sheet.slice(0, left)).replaceAll(/<!--|-->/g, "");
    left -= Math.min(left, sheet.length);
    for (const { selectors, block } of blocksOf(css)) {
      for (const selector of splitOutside(selectors, ",")) {
        const key = keyOf(selector.trim());
        if (key === undefined || (rules.size >= MAX_SELECTORS && !rules.has(key))) continue;
        rules.set(key, readDeclarations(block, rules.get(key), ++order));
      }
    }
  }
  function declaredOf({ name, id, classes, style }: StyledElement): Declarations {
    const own = style === "" ? NONE : readDeclarations(style);
    if (rules.size === 0) return own;
    const found: [weight: number, Declarations][] = [];
    const look = (key: string, weight: number) => {
      const rule = rules.get(key);
      if (rule !== undefined) found.push([weight, rule]);
    };
    look("*", 0);
    look(name, BY_ELEMENT);
    for (const [word] of classes.matchAll(/\S+/g)) {
      look(`.${word}`, BY_CLASS);
      look(`${name}.${word}`, BY_CLASS + BY_ELEMENT);
    }
    if (id !== "") {
      look(`#${id}`, BY_ID);
      look(`${name}#${id}`, BY_ID + BY_ELEMENT);
    }
    if (own.size > 0) found.push([INLINE, own]);
    return found.length === 0 ? NONE : cascade(found);
  }
  // What repeats is read once: newsletters give hundreds of elements one style.
  const whole = new Map<string, Declarations>();
  return {
    isEmpty: rules.size === 0,
    declared(element) {
      const { name, id, classes, style } = element;
      if (id + classes + style === "" && rules.size === 0) return NONE;
      const key = id + classes + style === "" ? name : `${name} ${id}\n${classes}\n${style}`;
      let found = whole.get(key);
      if (found === undefined) {
        found = declaredOf(element);
        if (whole.size < MAX_KEPT && key.length < MAX_KEPT) whole.set(key, found);
      }
      return found;
    },
  };
}

const NONE: Declarations = new Map();

/** The declaration of each property that weighs most; of equals the later one. */
function cascade(found: readonly (readonly [weight: number, Declarations])[]): Declarations {
  const held = new Map<string, Weighed>();
  for (const [weight, declarations] of found) {
    for (const [property, declared] of declarations) {
      const before = held.get(property);
      const weighed = { weight, declared };
      if (before === undefined || compare(weighed, before) >= 0) held.set(property, weighed);
    }
  }
  // Shorthands and longer names hold in the order of their weight.
  const inOrder = [...held].sort(([, a], [, b]) => compare(a, b));
  return new Map(inOrder.map(([property, { declared }]) => [property, declared]));
}

interface Weighed {
  weight: number;
  declared: Declared;
}

/** Above 0 where the first holds against the second (CSS Cascade 4, section 6). */
function compare(a: Weighed, b: Weighed): number {
  return Number(a.declared.important) - Number(b.declared.important) || a.weight - b.weight ||
    a.declared.order - b.declared.order;
}

/** What a selector is found by; undefined for one that is not simple. */
function keyOf(selector: string): string | undefined {
  const [whole, element, rest] = SELECTOR.exec(selector) ?? [];
  if (whole === undefined || whole === "") return undefined;
  const name = (element ?? "").toLowerCase();
  if (rest === undefined) return name;
  return (name === "*" ? "" : name) + rest[0] + unescape(rest.slice(1));
}

/** Selectors and declarations of the rules that stand in no block of an at-rule. */
function* blocksOf(css: string): Generator<{ selectors: string; block: string }> {
  // Braces, quotes, and the ends of statements such as @import.
  const marks = /[{};]|\\[^]|"(?:[^"\\\n]|\\[^])*(?:"|$)?|'(?:[^'\\\n]|\\[^])*(?:'|$)?/g;
  let start = 0;
  let depth = 0;
  let selectors = "";
  const isStatement = () => {
    while (start < css.length && /\s/.test(css[start]!)) start++;
    return css[start] === "@";
  };
  for (const { 0: mark, index } of css.matchAll(marks)) {
    if (mark === "{") {
      if (depth++ === 0) {
        selectors = css.slice(start, index).trim();
        start = index + 1;
      }
    } else if (mark === "}") {
      if (depth === 1 && !selectors.startsWith("@")) {
        yield { selectors, block: css.slice(start, index) };
      }
      depth = Math.max(0, depth - 1);
      if (depth === 0) start = index + 1;
    } else if (mark === ";" && depth === 0 && isStatement()) {
      start = index + 1;
    }
  }
  // Browsers close at the end what a sheet left open.
  if (depth === 1 && !selectors.startsWith("@")) yield { selectors, block: css.slice(start) };
}
