/** Selectors of style sheets, and whether an element is one that they select. Pure; bounded. */
import { unescape } from "./css_declarations.ts";
import type { Steps } from "./steps.ts";

/** An element as selectors see it: what is open around it, and some of what stood before it. */
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
/** Longer selectors are not judged. */
const MAX_COMPOUNDS = 16;
/** Of a value that is compared. */
const CHARACTERS_A_STEP = 8;
const MAX_SELECTOR_CHARACTERS = 1_000;

export const BY_ELEMENT = 1;
export const BY_CLASS = 1_000;
export const BY_ID = 1_000_000;

type Combinator = " " | ">" | "+" | "~";
/** Null where it cannot be told. */
type Test = (node: StyledNode, steps: Steps) => boolean | null;

interface Compound {
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
export function selects({ compounds }: Selector, node: StyledNode, steps: Steps): boolean | null {
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
        isUnsure = true; // further away than what is known
        return combinator === "~" || index === one.index - 1;
      }
      if (matchFrom(sibling, at + 1)) return true;
      if (combinator === "+") return false;
    }
    return false;
  }
}

const NAME = String.raw`(?:[^\s.#:[\]>+~*(),"'\\=|^$!@{};/&]|\\[^])+`;
const at = (pattern: string) => new RegExp(pattern, "y");
const COMBINATOR = at(String.raw`\s*([>+~])\s*|\s+`);
const ELEMENT = at(String.raw`\*|${NAME}`);
const CLASS_OR_ID = at(String.raw`[.#](${NAME})`);
const ATTRIBUTE = at(
  String
    .raw`\[\s*(${NAME})\s*(?:([~|^$*]?=)\s*(?:"((?:[^"\\]|\\[^])*)"|'((?:[^'\\]|\\[^])*)'|(${NAME}))\s*([is])?\s*)?\]`,
);
const PSEUDO = at(String.raw`::?(-?[a-z][a-z0-9-]*)(\()?`);
/** What somebody who reads does, or does not yet. */
const NEVER =
  /^(?:hover|active|focus(?:-visible|-within)?|visited|target|checked|disabled|invalid|selection|placeholder|-webkit-.*|-moz-.*|-ms-.*)$/;
const SELECTOR_LISTS = /^(?:not|is|where|matches|-webkit-any|-moz-any)$/;

/** @returns null for what is no selector, or none that is known */
export function readSelector(given: string): Selector | null {
  const text = given.trim();
  if (text === "" || text.length > MAX_SELECTOR_CHARACTERS) return null;
  const reader = { text, at: 0 };
  const compounds: Compound[] = [];
  let weight = 0;
  let isGenerated = false;
  let key = "*";
  let combinator: Combinator | null = null;
  while (reader.at < text.length) {
    if (isGenerated || compounds.length >= MAX_COMPOUNDS) return null;
    const found = readCompound(reader, 0);
    if (found === null) return null;
    weight += found.weight;
    isGenerated = found.isGenerated;
    key = found.key;
    compounds.push({ name: found.name, tests: found.tests, combinator });
    const mark = take(reader, COMBINATOR);
    if (mark === null) break;
    combinator = (mark[1] ?? " ") as Combinator;
    if (reader.at >= text.length) return null;
  }
  if (reader.at < text.length) return null;
  return {
    compounds: compounds.reverse(),
    weight,
    key,
    isGenerated,
    looksAtSiblings: compounds.some(({ combinator }) => combinator === "+" || combinator === "~"),
  };
}

interface Reader {
  text: string;
  at: number;
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text);
  if (found !== null) reader.at = pattern.lastIndex;
  return found;
}

interface ReadCompound {
  name: string | null;
  tests: Test[];
  weight: number;
  key: string;
  isGenerated: boolean;
}

/** @param depth of lists in which it stands */
function readCompound(reader: Reader, depth: number): ReadCompound | null {
  const start = reader.at;
  const element = take(reader, ELEMENT)?.[0];
  const name = element === undefined || element === "*" ? null : unescape(element).toLowerCase();
  const found: ReadCompound = {
    name,
    tests: [],
    weight: name === null ? 0 : BY_ELEMENT,
    key: name ?? "*",
    isGenerated: false,
  };
  /** The rarer what it is found by, the less often it is looked at. */
  const rank = { "#": 3, ".": 2, "[": 0 } as Record<string, number>;
  const findBy = (key: string) => {
    const rankOf = (one: string) => one === "*" ? -1 : rank[one[0]!] ?? 1;
    if (rankOf(key) > rankOf(found.key)) found.key = key;
  };
  for (;;) {
    const simple = take(reader, CLASS_OR_ID);
    if (simple !== null) {
      const isId = simple[0].startsWith("#");
      const value = unescape(simple[1]!);
      found.weight += isId ? BY_ID : BY_CLASS;
      findBy(`${isId ? "#" : "."}${value}`);
      found.tests.push(
        isId
          ? (node) => valueOf(node, "id") === value
          : (node, steps) => classesOf(node, steps).has(value),
      );
      continue;
    }
    const attribute = take(reader, ATTRIBUTE);
    if (attribute !== null) {
      const [, rawName, operator, double, single, bare, flag] = attribute;
      const attributeName = unescape(rawName!).toLowerCase();
      const wanted = operator === undefined ? undefined : unescape(double ?? single ?? bare ?? "");
      found.weight += BY_CLASS;
      findBy(`[${attributeName}`);
      found.tests.push(attributeTest(attributeName, operator, wanted, flag));
      continue;
    }
    const pseudo = take(reader, PSEUDO);
    if (pseudo === null) break;
    if (!readPseudo(reader, pseudo[1]!.toLowerCase(), pseudo[2] !== undefined, found, depth)) {
      return null;
    }
  }
  return reader.at === start ? null : found;
}

function readPseudo(
  reader: Reader,
  name: string,
  isFunction: boolean,
  found: ReadCompound,
  depth: number,
): boolean {
  found.weight += BY_CLASS;
  if (isFunction && SELECTOR_LISTS.test(name)) {
    if (depth > 1) return false;
    const inner: ReadCompound[] = [];
    for (;;) {
      skipSpace(reader);
      const one = readCompound(reader, depth + 1);
      if (one === null || one.isGenerated) return false;
      inner.push(one);
      skipSpace(reader);
      const mark = reader.text[reader.at++];
      if (mark === ")") break;
      if (mark !== ",") return false;
    }
    found.weight += (name === "where" ? 0 : Math.max(...inner.map(({ weight }) => weight))) -
      BY_CLASS;
    found.tests.push((node, steps) => {
      const holds = inner.map((one) => holdsAll(one, node, steps));
      const any = holds.includes(true) ? true : holds.includes(null) ? null : false;
      return name === "not" ? any === null ? null : !any : any;
    });
    return true;
  }
  const argument = isFunction ? takeArgument(reader) : "";
  if (argument === null) return false;
  found.tests.push(pseudoTest(name, argument.trim().toLowerCase()));
  found.isGenerated ||= name === "before" || name === "after";
  return true;
}

function pseudoTest(name: string, argument: string): Test {
  if (name === "before" || name === "after") return () => true;
  if (NEVER.test(name)) return () => false;
  if (name === "link" || name === "any-link") {
    return (node) => node.name === "a" && valueOf(node, "href") !== undefined;
  }
  if (name === "root") return ({ name }) => name === "html";
  if (name === "first-child") return ({ index }) => index === 1;
  if (name === "nth-child") {
    const [, step, offset] = readNth(argument) ?? [];
    if (step !== undefined && offset !== undefined) {
      return ({ index }) => {
        const count = index - offset;
        return step === 0 ? count === 0 : count % step === 0 && count / step >= 0;
      };
    }
  }
  return () => null;
}

/** `2n+1`, `odd`, `3` (CSS Selectors 4, section 14.3.1). */
function readNth(argument: string): [string, number, number] | null {
  if (argument === "odd") return [argument, 2, 1];
  if (argument === "even") return [argument, 2, 0];
  const [whole, step, sign, offset, only] =
    /^(?:([-+]?\d{0,6})n(?:\s*([-+])\s*(\d{1,6}))?|([-+]?\d{1,6}))$/.exec(argument) ?? [];
  if (whole === undefined) return null;
  if (only !== undefined) return [whole, 0, Number(only)];
  const n = step === "" || step === "+" ? 1 : step === "-" ? -1 : Number(step);
  return [whole, n, Number(offset ?? 0) * (sign === "-" ? -1 : 1)];
}

function holdsAll(
  { name, tests }: ReadCompound,
  node: StyledNode,
  steps: Steps,
): boolean | null {
  if (name !== null && name !== node.name) return false;
  steps.count(tests.length);
  const holds = tests.map((test) => test(node, steps));
  return holds.includes(false) ? false : holds.includes(null) ? null : true;
}

function takeArgument(reader: Reader): string | null {
  const start = reader.at;
  for (let depth = 1; reader.at < reader.text.length; reader.at++) {
    const char = reader.text[reader.at];
    if (char === "(") depth++;
    if (char === ")" && --depth === 0) return reader.text.slice(start, reader.at++);
  }
  return null;
}

function skipSpace(reader: Reader): void {
  while (/\s/.test(reader.text[reader.at] ?? "")) reader.at++;
}

/** HTML, section 4.16.1: of these the case of values does not count. */
const CASELESS =
  /^(?:align|bgcolor|color|dir|face|lang|link|media|method|rel|scope|shape|target|text|type|valign|vlink)$/;

function attributeTest(
  name: string,
  operator: string | undefined,
  wanted: string | undefined,
  flag: string | undefined,
): Test {
  const fold = flag === "i" || (flag === undefined && CASELESS.test(name));
  const want = fold ? wanted?.toLowerCase() : wanted;
  return (node, steps) => {
    const given = valueOf(node, name);
    if (given === undefined) return false;
    steps.count(Math.ceil(given.length / CHARACTERS_A_STEP));
    if (operator === undefined || want === undefined) return true;
    const value = fold ? given.toLowerCase() : given;
    if (operator === "=") return value === want;
    if (operator === "|=") return value === want || value.startsWith(`${want}-`);
    if (want === "") return false;
    if (operator === "~=") return value.split(/\s+/).includes(want);
    if (operator === "^=") return value.startsWith(want);
    return operator === "$=" ? value.endsWith(want) : value.includes(want);
  };
}

function valueOf({ attrs }: StyledNode, name: string): string | undefined {
  for (const attr of attrs) if (attr.name === name) return attr.value;
  return undefined;
}

function classesOf(node: StyledNode, steps: Steps): ReadonlySet<string> {
  if (node.classes === undefined) {
    const given = valueOf(node, "class") ?? "";
    steps.count(Math.ceil(given.length / CHARACTERS_A_STEP));
    node.classes = new Set(given.split(/\s+/));
  }
  return node.classes;
}
