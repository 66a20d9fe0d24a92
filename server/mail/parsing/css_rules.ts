/** The style sheets of a message, as far as simple selectors go. Pure; linear and bounded. */
import {
  type Declarations,
  type Declared,
  joinDeclarations,
  readDeclarations,
  splitOutside,
  unescape,
  withoutComments,
} from "./css_declarations.ts";
import type { Sliced } from "./sliced.ts";
import type { Steps } from "./steps.ts";

/** What of a message's style sheets is read, in UTF-16 units. */
export const MAX_CSS_CHARACTERS = 512 * 1024;
/** How many selectors are kept. */
export const MAX_SELECTORS = 10_000;
/** How many elements are kept with what holds for them, and how long their attributes may be. */
const MAX_KEPT = 1_000;
/**
 * `p`, `.note`, `#top`, and the first with one of the others; `*` is every element. A backslash is read
 * one way alone: with two, what does not match takes time that doubles with each.
 */
const SELECTOR = /^(\*|[a-z][a-z0-9]*)?([.#](?:[^\\\s.#:[\]>+~*(),"']|\\.)+)?$/i;
/** Specificity of an element, a class and an id; what stands in the element comes before them. */
const BY_ELEMENT = 1;
const BY_CLASS = 10;
const BY_ID = 100;
const INLINE = 1_000;

export interface CssRules {
  /** Whether no style sheet says anything of an element. */
  isEmpty: boolean;
  /**
   * What holds for an element, its own `style` included. Where the steps are spent the style sheets
   * say nothing of elements that are not like a former one.
   */
  declared(element: StyledElement): Sliced<Declarations>;
}

export interface StyledElement {
  name: string;
  /** Its attributes, "" for those that it has not. */
  id: string;
  classes: string;
  style: string;
}

/**
 * Reads style sheets. Blocks of at-rules (@media, @font-face, ...) are skipped whole.
 * @param steps counts what is read, and later what is looked up
 */
export function* readRules(sheets: readonly string[], steps: Steps): Sliced<CssRules> {
  /** Blocks by what selects them: joined when something is first selected by it. */
  const rules = new Map<string, Declarations[]>();
  let order = 0;
  let left = MAX_CSS_CHARACTERS;
  for (const sheet of sheets) {
    const css = withoutComments(sheet.slice(0, left)).replaceAll(/<!--|-->/g, "");
    left -= Math.min(left, sheet.length);
    for (const { selectors, block } of blocksOf(css)) {
      const declared = yield* readDeclarations(block, steps, ++order);
      if (declared.size === 0) continue;
      for (const selector of splitOutside(selectors, ",", steps)) {
        if (selector === null) yield null;
        const key = keyOf(selector?.trim() ?? "");
        if (key === undefined) continue;
        const blocks = rules.get(key);
        if (blocks === undefined) {
          if (rules.size < MAX_SELECTORS) rules.set(key, [declared]);
        } else if (blocks.at(-1) !== declared) blocks.push(declared);
      }
    }
  }

  function ruleOf(key: string): Declarations | undefined {
    steps.count(1);
    const blocks = rules.get(key);
    if (blocks === undefined || blocks.length === 1) return blocks?.[0];
    steps.count(blocks.reduce((sum, { size }) => sum + size, 0));
    const joined = joinDeclarations(blocks);
    rules.set(key, [joined]);
    return joined;
  }

  function* declaredOf({ name, id, classes, style }: StyledElement): Sliced<Declarations> {
    const own = style === "" ? NONE : yield* readDeclarations(style, steps);
    if (rules.size === 0 || steps.areSpent) return own;
    const found = new Map<string, readonly [weight: number, Declarations]>();
    const look = (key: string, weight: number) => {
      if (found.has(key)) return;
      const rule = ruleOf(key);
      if (rule !== undefined) found.set(key, [weight, rule]);
    };
    look("*", 0);
    look(name, BY_ELEMENT);
    for (const [word] of classes.matchAll(/\S+/g)) {
      look(`.${word}`, BY_CLASS);
      look(`${name}.${word}`, BY_CLASS + BY_ELEMENT);
      if (steps.isRestDue()) yield null;
    }
    if (id !== "") {
      look(`#${id}`, BY_ID);
      look(`${name}#${id}`, BY_ID + BY_ELEMENT);
    }
    if (found.size === 0) return own;
    const inOrder = [...found.values()];
    if (own.size > 0) inOrder.push([INLINE, own]);
    const whole = yield* cascade(inOrder, steps);
    return whole ?? own;
  }

  // What repeats is read once: newsletters give hundreds of elements one style.
  const known = new Map<string, Declarations>();
  return {
    isEmpty: rules.size === 0,
    *declared(element) {
      const { name, id, classes, style } = element;
      if (id + classes + style === "" && rules.size === 0) return NONE;
      const key = id + classes + style === "" ? name : `${name} ${id}\n${classes}\n${style}`;
      let found = known.get(key);
      if (found === undefined) {
        found = yield* declaredOf(element);
        if (known.size < MAX_KEPT && key.length < MAX_KEPT && !steps.areSpent) {
          known.set(key, found);
        }
      }
      return found;
    },
  };
}

const NONE: Declarations = new Map();
/** What it costs to conclude from declarations how an element looks, and from each of their characters. */
const STEPS_OF_LOOK = 20;
const CHARACTERS_A_STEP = 8;

/**
 * The declaration of each property that weighs most; of equals the later one. Null where the steps are
 * spent before.
 */
function* cascade(
  found: readonly (readonly [weight: number, Declarations])[],
  steps: Steps,
): Sliced<Declarations | null> {
  const held = new Map<string, Weighed>();
  for (const [weight, declarations] of found) {
    steps.count(declarations.size);
    if (steps.isRestDue()) yield null;
    if (steps.areSpent) return null;
    for (const [property, declared] of declarations) {
      const before = held.get(property);
      const weighed = { weight, declared };
      if (before === undefined || compare(weighed, before) >= 0) held.set(property, weighed);
    }
  }
  // Shorthands and longer names hold in the order of their weight.
  const inOrder = [...held].sort(([, a], [, b]) => compare(a, b));
  let characters = 0;
  for (const [, { declared }] of inOrder) characters += declared.value.length;
  steps.count(STEPS_OF_LOOK + Math.ceil(characters / CHARACTERS_A_STEP));
  if (steps.areSpent) return null;
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
