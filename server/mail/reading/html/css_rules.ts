/** The style sheets of a message. Pure; linear and bounded. */
import {
  type Declarations,
  joinDeclarations,
  readDeclarations,
  splitOutside,
  unescape,
  withoutComments,
} from "../css/css_declarations.ts";
import { BY_CLASS, BY_ELEMENT, BY_ID, type Selector, selects } from "../css/css_selectors.ts";
import { readSelector } from "../css/read_selector.ts";
import type { StyledNode } from "../css/css_selectors.ts";
import { isText, mayHide } from "../css/hidden_rule.ts";
import type { StyleSheet } from "./html_tokens.ts";
import { blocksOf } from "../css/css_blocks.ts";
import { cascade } from "../css/css_cascade.ts";
import type { MediaMatch } from "../css/media_queries.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import type { StepBudget } from "../../../base/slices/step_budget.ts";

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
const SIMPLE = /^(\*|[a-z][a-z0-9]*)?([.#](?:[^\\\s.#:[\]>+~*(),"'=|^$!@{};/&]|\\.)+)?$/i;
/** Beyond the specificity of every selector: what stands in the element itself. */
const INLINE = 1_000 * BY_ID;

export interface CssRules {
  /** Whether no style sheet says anything of an element. */
  isEmpty: boolean;
  /** Whether elements have to be told with what stands around them. */
  needsNodes: boolean;
  /** Whether also with what stands before them. */
  looksAtSiblings: boolean;
  /**
   * What holds for an element, its own `style` included. Where the steps are spent the style sheets
   * say nothing of elements that are not like a former one.
   */
  declared(element: StyledElement): Sliced<FoundDeclarations>;
}

export interface FoundDeclarations {
  declarations: Declarations;
  /** Whether CSS puts letters before or behind its content. */
  hasGenerated: boolean;
  /** Whether something that may hide text may hold for it, or not. */
  isNotJudged: boolean;
}

export interface StyledElement {
  name: string;
  /** Its attributes, "" for those that it has not. */
  id: string;
  classes: string;
  style: string;
  /** Null where needsNodes is false. */
  node: StyledNode | null;
}

/** Rules that are looked at between two questions whether others should run. */
const LOOKS_A_SLICE = 32;

/** A rule whose selector is more than one name, class or id. */
interface ContextRule {
  selector: Selector;
  declared: Declarations;
  /** Whether it stands where it may hold or not. */
  isUnsure: boolean;
  isConcerning: boolean;
}

/**
 * Reads style sheets.
 * @param steps counts what is read, and later what is looked up
 */
export function* readRules(sheets: readonly StyleSheet[], steps: StepBudget): Sliced<CssRules> {
  /** Blocks by what selects them: joined when something is first selected by it. */
  const rules = new Map<string, Declarations[]>();
  /** By the key of the element that they select. */
  const contexts = new Map<string, ContextRule[]>();
  let count = 0;
  let order = 0;
  let left = MAX_CSS_CHARACTERS;
  let looksAtSiblings = false;
  /** Something that is said of any element cannot be judged. */
  let isNotJudged = false;

  function addRule(given: string, declared: Declarations, holds: MediaMatch): void {
    const key = holds === "yes" ? simpleKeyOf(given) : undefined;
    if (key !== undefined && !declared.has("content")) {
      const blocks = rules.get(key);
      if (blocks !== undefined) {
        if (blocks.at(-1) !== declared) blocks.push(declared);
      } else if (count++ < MAX_SELECTORS) rules.set(key, [declared]);
      else isNotJudged ||= mayHide(declared);
      return;
    }
    steps.count(given.length);
    const isConcerning = mayHide(declared);
    const selector = readSelector(given);
    if (selector === null || count++ >= MAX_SELECTORS) {
      isNotJudged ||= isConcerning;
      return;
    }
    if (selector.isNever) return;
    if (selector.isGenerated ? !isText(declared.get("content")?.value) : declared.size === 0) {
      return;
    }
    if (holds === "unsure" && !isConcerning && !selector.isGenerated) return;
    looksAtSiblings ||= selector.looksAtSiblings;
    const rule = { selector, declared, isUnsure: holds === "unsure", isConcerning };
    const same = contexts.get(selector.key);
    if (same === undefined) contexts.set(selector.key, [rule]);
    else same.push(rule);
  }

  for (const { css: whole, holds: sheetHolds } of sheets) {
    if (whole.length > left) isNotJudged = true;
    const css = withoutComments(whole.slice(0, left)).replaceAll(/<!--|-->/g, "");
    // Mail programs load no other style sheets than the ones that come with the mail.
    if (/@import[^;{}]{0,99}\bdata:/i.test(css)) isNotJudged = true;
    left -= Math.min(left, whole.length);
    for (const { selectors, block, holds, isNested } of blocksOf(css)) {
      if (isNested) isNotJudged = true;
      const declared = yield* readDeclarations(block, steps, ++order);
      if (declared.size === 0) continue;
      const both = sheetHolds === "unsure" ? sheetHolds : holds;
      for (const selector of splitOutside(selectors, ",", steps)) {
        if (selector === null) yield null;
        else addRule(selector.trim(), declared, both);
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

  /** What holds for an element by its name, its id, its classes and its own style. */
  interface Known {
    own: Declarations;
    found: (readonly [weight: number, Declarations])[];
    candidates: ContextRule[];
    /** Of all of them, by the rules that hold beside. */
    whole: Map<string, Declarations>;
    /** Where none of those can hold. */
    alone?: FoundDeclarations;
  }

  function* lookUp({ name, id, classes, style }: StyledElement): Sliced<Known> {
    const own = style === "" ? NONE : yield* readDeclarations(style, steps);
    const known: Known = { own, found: [], candidates: [], whole: new Map() };
    if (steps.areSpent) return known;
    const seen = new Set<string>();
    const look = (key: string, weight: number) => {
      if (seen.has(key)) return;
      seen.add(key);
      const rule = ruleOf(key);
      if (rule !== undefined) known.found.push([weight, rule]);
      const same = contexts.size === 0 ? undefined : contexts.get(key);
      if (same !== undefined) { for (const one of same) known.candidates.push(one); }
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
    return known;
  }

  function* join(known: Known, held: readonly ContextRule[]): Sliced<Declarations> {
    const { own, found } = known;
    if (found.length === 0 && held.length === 0) return own;
    const all = [
      ...found,
      ...held.map(({ selector, declared }) => [selector.weight, declared] as const),
    ];
    if (own.size > 0) all.push([INLINE, own]);
    return (yield* cascade(all, steps)) ?? own;
  }

  // What repeats is read once: newsletters give hundreds of elements one style.
  const memory = new Map<string, Known>();
  let kept = 0;
  const hasRules = rules.size > 0 || contexts.size > 0;
  return {
    isEmpty: !hasRules && !isNotJudged,
    needsNodes: contexts.size > 0,
    looksAtSiblings,
    *declared(element) {
      const { name, id, classes, style, node } = element;
      if (id + classes + style === "" && !hasRules) return NOTHING[Number(isNotJudged)]!;
      const key = id + classes + style === "" ? name : `${name} ${id}\n${classes}\n${style}`;
      let known = memory.get(key);
      if (known === undefined) {
        known = yield* lookUp(element);
        if (memory.size < MAX_KEPT && key.length < MAX_KEPT && !steps.areSpent) {
          memory.set(key, known);
        }
      }
      const candidates = candidatesOf(known, node);
      if (candidates.length === 0) {
        known.alone ??= {
          declarations: yield* join(known, []),
          hasGenerated: false,
          isNotJudged,
        };
        return known.alone;
      }
      const result = { declarations: NONE, hasGenerated: false, isNotJudged };
      const held: ContextRule[] = [];
      let heldKey = "";
      let looked = 0;
      for (const rule of candidates) {
        if (steps.areSpent) break;
        if (++looked % LOOKS_A_SLICE === 0 && steps.isRestDue()) yield null;
        const holds = selects(rule.selector, node!, steps);
        if (holds === false) continue;
        if (rule.selector.isGenerated) result.hasGenerated = true;
        else if (holds === null || rule.isUnsure) result.isNotJudged ||= rule.isConcerning;
        else {
          held.push(rule);
          heldKey += `${rule.declared.values().next().value!.order} ${rule.selector.weight},`;
        }
      }
      let whole = known.whole.get(heldKey);
      if (whole === undefined) {
        whole = yield* join(known, held);
        if (kept < MAX_KEPT && heldKey.length < MAX_KEPT && !steps.areSpent) {
          known.whole.set(heldKey, whole);
          kept++;
        }
      }
      return { ...result, declarations: whole };
    },
  };

  function candidatesOf({ candidates }: Known, node: StyledNode | null): ContextRule[] {
    if (contexts.size === 0 || node === null) return [];
    const all = candidates;
    const more: ContextRule[] = [];
    steps.count(node.attrs.length);
    for (const { name } of node.attrs) {
      for (const one of contexts.get(`[${name}`) ?? []) more.push(one);
    }
    return more.length === 0 ? all : [...all, ...more];
  }
}

const NONE: Declarations = new Map();
const NOTHING: readonly FoundDeclarations[] = [false, true].map((isNotJudged) => ({
  declarations: NONE,
  hasGenerated: false,
  isNotJudged,
}));
/** What a selector of one name, class or id is found by; undefined for all others. */
function simpleKeyOf(selector: string): string | undefined {
  const [whole, element, rest] = SIMPLE.exec(selector) ?? [];
  if (whole === undefined || whole === "") return undefined;
  const name = (element ?? "").toLowerCase();
  if (rest === undefined) return name;
  return (name === "*" ? "" : name) + rest[0] + unescape(rest.slice(1));
}
