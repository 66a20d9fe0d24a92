/** Whether an element is one that a selector of a style sheet selects. Pure; bounded. */
import type { StepBudget } from "../../../base/slices/step_budget.ts";

/** An element as selectors see it: the elements open around it, and some of those before it. */
export interface StyledNode {
  name: string;
  attrs: readonly { name: string; value: string }[];
  /** Null of the document. */
  parent: StyledNode | null;
  /** Its place among the children of its parent, from 1. */
  index: number;
  /** How many children it has so far, and the last of them. */
  childCount: number;
  lastChildren: StyledNode[];
  /** Its classes, once something has asked for them. */
  classes?: ReadonlySet<string>;
}

/** Elements before one that are still known. */
const MAX_KNOWN_SIBLINGS = 32;
/** Elements that are looked at for one selector and one element. */
const MAX_LOOKS = 1_000;
/** For an attribute value that is compared. */
export const CHARACTERS_A_STEP = 8;

export const BY_ELEMENT = 1;
export const BY_CLASS = 1_000;
export const BY_ID = 1_000_000;

export type Combinator = " " | ">" | "+" | "~";
/** Null where it cannot be told. */
export type Test = (node: StyledNode, steps: StepBudget) => boolean | null;

export interface Compound {
  name: string | null;
  tests: Test[];
  /** To what stands left of it. */
  combinator: Combinator | null;
}

export interface Selector {
  /** From the right to the left. */
  compounds: readonly Compound[];
  /** Specificity (CSS Selectors 4, section 17). */
  weight: number;
  /** What an element has to have for it to be looked at: `#id`, `.class`, a name, `[attribute` or `*`. */
  key: string;
  /** Whether it selects what stands before or behind the content of an element. */
  isGenerated: boolean;
  /** Whether it selects nothing until somebody points at something. */
  isNever: boolean;
  looksAtSiblings: boolean;
}

export function documentNode(): StyledNode {
  return { name: "", attrs: [], parent: null, index: 0, childCount: 0, lastChildren: [] };
}

/**
 * A child that begins in a parent.
 * @param isKept whether later ones are to see it beside them
 */
export function childNode(
  parent: StyledNode,
  { tagName: name, attrs }: { tagName: string; attrs: StyledNode["attrs"] },
  isKept: boolean,
): StyledNode {
  const index = ++parent.childCount;
  const node = { name, attrs, parent, index, childCount: 0, lastChildren: [] };
  if (isKept) {
    if (parent.lastChildren.length >= MAX_KNOWN_SIBLINGS) parent.lastChildren.shift();
    parent.lastChildren.push(node);
  }
  return node;
}

/**
 * Whether a selector selects an element; null where that cannot be told.
 * @param steps counts the elements that were looked at
 */
export function selects(
  { compounds }: Selector,
  node: StyledNode,
  steps: StepBudget,
): boolean | null {
  let looks = 0;
  let isUnsure = false;
  const found = matchFrom(node, 0);
  steps.count(looks);
  if (looks >= MAX_LOOKS) return found || null;
  return found ? isUnsure ? null : true : false;

  function matchFrom(one: StyledNode, at: number): boolean {
    if (++looks >= MAX_LOOKS) return false;
    const { name, tests, combinator } = compounds[at]!;
    if (one.index === 0 || (name !== null && name !== one.name)) return false;
    let unsure = false;
    for (const test of tests) {
      const holds = test(one, steps);
      if (holds === false) return false;
      if (holds === null) unsure = true;
    }
    if (!goesOn(one, at, combinator)) return false;
    isUnsure ||= unsure;
    return true;
  }

  function goesOn(one: StyledNode, at: number, combinator: Combinator | null): boolean {
    if (combinator === null) return true;
    if (combinator === ">") return one.parent !== null && matchFrom(one.parent, at + 1);
    if (combinator === " ") {
      for (let around = one.parent; around !== null && looks < MAX_LOOKS; around = around.parent) {
        if (matchFrom(around, at + 1)) return true;
      }
      return false;
    }
    const before = one.parent!.lastChildren;
    const last = before.at(-1)?.index ?? 0;
    for (let index = one.index - 1; index > 0 && looks < MAX_LOOKS; index--) {
      const sibling = before[before.length - 1 - (last - index)];
      if (sibling === undefined) {
        isUnsure = true; // further away than the siblings known here
        return combinator === "~" || index === one.index - 1;
      }
      if (matchFrom(sibling, at + 1)) return true;
      if (combinator === "+") return false;
    }
    return false;
  }
}

/** An attribute; undefined where the element has none of the name. */
export function valueOf({ attrs }: StyledNode, name: string): string | undefined {
  for (const attr of attrs) if (attr.name === name) return attr.value;
  return undefined;
}

export function classesOf(node: StyledNode, steps: StepBudget): ReadonlySet<string> {
  if (node.classes === undefined) {
    const given = valueOf(node, "class") ?? "";
    steps.count(Math.ceil(given.length / CHARACTERS_A_STEP));
    node.classes = new Set(given.split(/\s+/));
  }
  return node.classes;
}
