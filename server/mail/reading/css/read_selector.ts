/** Selectors as they are written (CSS Selectors 4), read. Pure; bounded. */
import { unescape } from "./css_declarations.ts";
import {
  BY_CLASS,
  BY_ELEMENT,
  BY_ID,
  CHARACTERS_A_STEP,
  classesOf,
  type Combinator,
  type Compound,
  type Selector,
  type StyledNode,
  type Test,
  valueOf,
} from "./css_selectors.ts";
import type { StepBudget } from "../../../base/slices/step_budget.ts";

/** Longer selectors are not judged. */
const MAX_COMPOUNDS = 16;
const MAX_SELECTOR_CHARACTERS = 1_000;

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

/** @returns null for what is no selector, or an unknown one */
export function readSelector(given: string): Selector | null {
  const text = given.trim();
  if (text === "" || text.length > MAX_SELECTOR_CHARACTERS) return null;
  const reader = { text, at: 0 };
  const compounds: Compound[] = [];
  let weight = 0;
  let isGenerated = false;
  let isNever = false;
  let key = "*";
  let combinator: Combinator | null = null;
  while (reader.at < text.length) {
    if (isGenerated || compounds.length >= MAX_COMPOUNDS) return null;
    const found = readCompound(reader, 0);
    if (found === null) return null;
    weight += found.weight;
    isGenerated = found.isGenerated;
    isNever ||= found.isNever;
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
    isNever,
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
  isNever: boolean;
}

/** @param depth how many lists it stands in */
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
    isNever: false,
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
  found.isNever ||= NEVER.test(name);
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
  steps: StepBudget,
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
