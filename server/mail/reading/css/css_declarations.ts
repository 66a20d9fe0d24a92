/** The declarations of CSS that can hide a text. Pure; linear in the length of the CSS. */
import { readColor } from "./colors.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import type { StepBudget } from "../../../base/slices/step_budget.ts";

/** What was declared of a property last, in a form that is compared: lowercased, escapes decoded. */
export interface Declared {
  value: string;
  important: boolean;
  /** Which of two declarations of the same weight came later. */
  order: number;
}

/** Properties to what holds of them. */
export type Declarations = Map<string, Declared>;

/** Everything that the rule of hidden text looks at. */
const READ_PROPERTIES: ReadonlySet<string> = new Set([
  "animation",
  "animation-name",
  "background",
  "background-color",
  "background-image",
  "bottom",
  "clip",
  "clip-path",
  "color",
  "contain",
  "content",
  "content-visibility",
  "display",
  "filter",
  "flex-direction",
  "flex-flow",
  "font",
  "font-size",
  "font-size-adjust",
  "grid-area",
  "grid-column",
  "grid-row",
  "height",
  "inset",
  "inset-block",
  "inset-inline",
  "left",
  "letter-spacing",
  "line-height",
  "margin",
  "margin-block",
  "margin-bottom",
  "margin-inline",
  "margin-left",
  "margin-right",
  "margin-top",
  "mask",
  "mask-image",
  "max-height",
  "max-width",
  "mix-blend-mode",
  "mso-hide",
  "offset",
  "offset-path",
  "opacity",
  "order",
  "overflow",
  "overflow-x",
  "overflow-y",
  "padding",
  "padding-bottom",
  "padding-left",
  "padding-right",
  "padding-top",
  "position",
  "right",
  "rotate",
  "scale",
  "text-indent",
  "top",
  "transform",
  "translate",
  "unicode-bidi",
  "visibility",
  "-webkit-line-clamp",
  "-webkit-mask",
  "-webkit-mask-image",
  "-webkit-text-fill-color",
  "-webkit-text-security",
  "white-space",
  "width",
  "z-index",
  "zoom",
]);
/** Other names of properties that are read: the later one holds, under whichever name. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...[
    "animation",
    "animation-name",
    "clip-path",
    "filter",
    "flex-direction",
    "flex-flow",
    "opacity",
    "order",
    "transform",
  ]
    .map((name) => [`-webkit-${name}`, name] as const),
  // Text of mail runs in lines from the top: the sides of a line are taken to be the page's.
  ["block-size", "height"],
  ["inline-size", "width"],
  ["max-block-size", "max-height"],
  ["max-inline-size", "max-width"],
  ["overflow-block", "overflow-y"],
  ["overflow-inline", "overflow-x"],
  ...[["inline-start", "left"], ["inline-end", "right"], ["block-start", "top"], [
    "block-end",
    "bottom",
  ]].flatMap(([logical, side]) => [
    [`inset-${logical}`, side!] as const,
    [`margin-${logical}`, `margin-${side}`] as const,
    [`padding-${logical}`, `padding-${side}`] as const,
  ]),
]);
/** Browsers ignore other values of these, so that a later wrong one does not undo an earlier one. */
const KEYWORDS: Readonly<Record<string, RegExp>> = {
  display:
    /^(?:none|contents|initial|unset|revert|inherit|(?:inline|block|flow|list-item|run-in|flex|grid|table|ruby|math|-webkit-|-ms-)[a-z- ]*)$/,
  visibility: /^(?:visible|hidden|collapse|initial|unset|revert|inherit)$/,
  overflow: /^(?:(?:visible|hidden|clip|scroll|auto|initial|unset|revert|inherit) ?){1,2}$/,
};
/** Colours: a name, digits, or a function, whether it is known or not. */
const COLOR = /^(?:[a-z]+|#[0-9a-f]{3,8}|[a-z-]+\(.*\))$/;
const LENGTH =
  /^(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?:%|[a-z]*)|-?[a-z][a-z-]*\(.*\)|auto|none|normal|inherit|initial|unset|revert|(?:min|max|fit)-content|smaller|larger|(?:xxx-|xx-|x-)?(?:small|large)|medium)$/;
/** A value that is known where it is used alone: no browser ignores it before. */
const OF_VARIABLES = /(?:^|[^a-z-])(?:var|env|attr|if)\(/;
const COLORS = /^(?:color|background-color|-webkit-text-fill-color)$/;
const LENGTHS =
  /^(?:bottom|font-size|height|left|letter-spacing|margin-(?:bottom|left|right|top)|max-.*|opacity|padding-.*|right|text-indent|top|width|z-index|zoom|line-height)$/;
/** Longer values say nothing that is looked at; pictures in `url(data:...)` are such. */
const MAX_VALUE_CHARACTERS = 1_000;
/** Declarations of a block are told apart between two whole orders. */
const BETWEEN_DECLARATIONS = 1e-6;
/** Shorthands set what a longer name set before. */
const SHORTHANDS: Readonly<Record<string, readonly string[]>> = {
  background: ["background-color", "background-image"],
  font: ["font-size"],
};

/** A longer name of a property, however it is escaped, is none that is looked at. */
const MAX_PROPERTY_CHARACTERS = 200;
/** Characters that are looked at between two questions whether others should run. */
const SCANNED_CHARACTERS = 4 * 1024;

/**
 * What a block of declarations says, without its braces.
 * @param steps counts its characters
 */
export function* readDeclarations(css: string, steps: StepBudget, order = 0): Sliced<Declarations> {
  const read: Declarations = new Map();
  let count = 0;
  for (const declaration of splitOutside(withoutComments(css), ";", steps)) {
    if (declaration === null) {
      yield null;
      continue;
    }
    const place = order + count++ * BETWEEN_DECLARATIONS;
    const colon = declaration.indexOf(":");
    if (colon < 0) continue;
    const name = declaration.slice(0, colon).trim();
    if (name.length > MAX_PROPERTY_CHARACTERS) continue;
    const given = unescape(name).trim().toLowerCase();
    const property = OTHER_NAMES.get(given) ?? given;
    if (!READ_PROPERTIES.has(property)) continue;
    const declared = readValue(property, declaration.slice(colon + 1), place);
    if (declared !== undefined) put(read, property, declared);
  }
  return read;
}

/** What a property is declared to be; undefined for what browsers ignore. */
function readValue(property: string, given: string, order: number): Declared | undefined {
  const whole = given.trim();
  // The end of a long value still says whether it is important.
  const important = /!\s{0,9}important$/i.test(whole.slice(-30));
  const value = unescape(whole.slice(0, MAX_VALUE_CHARACTERS)).toLowerCase()
    .replace(/!\s*important$/, "").replaceAll(/\s+/g, " ").trim();
  const allowed = KEYWORDS[property.replace(/-[xy]$/, "")];
  if (
    value === "" || (allowed !== undefined && !OF_VARIABLES.test(value) && !allowed.test(value))
  ) {
    return undefined;
  }
  if (COLORS.test(property) && !isColor(value)) return undefined;
  if (LENGTHS.test(property) && !LENGTH.test(value)) return undefined;
  return { value, important, order };
}

const COLOR_WORDS = /^(?:currentcolor|inherit|initial|unset|revert|revert-layer)$/;

/** Browsers ignore other values, so that a former colour holds. */
function isColor(value: string): boolean {
  if (!COLOR.test(value)) return false;
  return value.endsWith(")") || COLOR_WORDS.test(value) || readColor(value) !== undefined;
}

/** What blocks say together, each below the one before it. */
export function joinDeclarations(blocks: readonly Declarations[]): Declarations {
  const joined: Declarations = new Map();
  for (const block of blocks) {
    for (const [property, declared] of block) put(joined, property, declared);
  }
  return joined;
}

/** Puts a declaration below those that were read before it. */
function put(into: Declarations, property: string, declared: Declared): void {
  const { important } = declared;
  const before = into.get(property);
  if (before?.important && !important) return;
  // A Map keeps the place of a key that it has: what is read later has to stand later.
  into.delete(property);
  into.set(property, declared);
  for (const longer of SHORTHANDS[property] ?? []) {
    if (important || !into.get(longer)?.important) into.delete(longer);
  }
}

const [BACKSLASH, DOUBLE, SINGLE, LINE_END, OPEN, CLOSE] = [..."\\\"'\n()"].map((char) =>
  char.charCodeAt(0)
) as [number, number, number, number, number, number];

/**
 * The parts of a text between separators that stand in no quotes and no parentheses, and null where
 * others may run.
 * @param separator one character
 * @param steps counts the characters
 */
export function* splitOutside(
  css: string,
  separator: string,
  steps: StepBudget,
): Generator<string | null> {
  const wanted = separator.charCodeAt(0);
  let start = 0;
  let quote = 0;
  let depth = 0;
  let counted = 0;
  for (let i = 0; i < css.length; i++) {
    if (i >= counted) {
      steps.count(Math.min(SCANNED_CHARACTERS, css.length - i));
      counted = i + SCANNED_CHARACTERS;
      if (steps.isRestDue()) yield null;
    }
    const char = css.charCodeAt(i);
    if (char === BACKSLASH) i++;
    else if (quote !== 0) {
      // A line end closes an unclosed string (CSS Syntax 3, 4.3.5).
      if (char === quote || char === LINE_END) quote = 0;
    } else if (char === DOUBLE || char === SINGLE) quote = char;
    else if (char === OPEN) depth++;
    else if (char === CLOSE) depth = Math.max(0, depth - 1);
    else if (char === wanted && depth === 0) {
      yield css.slice(start, i);
      start = i + 1;
    }
  }
  yield css.slice(start);
}

export function withoutComments(css: string): string {
  return css.includes("/*") ? css.replaceAll(/\/\*[^]*?(?:\*\/|$)/g, " ") : css;
}

/** `\64 isplay` is display (CSS Syntax 3, 4.3.7). */
export function unescape(css: string): string {
  if (!css.includes("\\")) return css;
  return css.replaceAll(/\\(?:([0-9a-f]{1,6})\s?|([^]))/gi, (_, hex, char) => {
    if (hex === undefined) return char;
    const code = parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}
