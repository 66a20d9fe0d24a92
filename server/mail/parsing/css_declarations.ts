/** The declarations of CSS that can hide a text. Pure; linear in the length of the CSS. */

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
  "background",
  "background-color",
  "background-image",
  "bottom",
  "clip",
  "clip-path",
  "color",
  "display",
  "font",
  "font-size",
  "height",
  "inset",
  "left",
  "margin",
  "margin-bottom",
  "margin-left",
  "margin-right",
  "margin-top",
  "max-height",
  "max-width",
  "mso-hide",
  "opacity",
  "overflow",
  "overflow-x",
  "overflow-y",
  "right",
  "text-indent",
  "top",
  "transform",
  "translate",
  "visibility",
  "white-space",
  "width",
]);
/** Of these a browser ignores other values, so that a later wrong one does not undo an earlier one. */
const KEYWORDS: Readonly<Record<string, RegExp>> = {
  display:
    /^(?:none|contents|initial|unset|revert|inherit|(?:inline|block|flow|list-item|run-in|flex|grid|table|ruby|math|-webkit-|-ms-)[a-z- ]*)$/,
  visibility: /^(?:visible|hidden|collapse|initial|unset|revert|inherit)$/,
  overflow: /^(?:(?:visible|hidden|clip|scroll|auto|initial|unset|revert|inherit) ?){1,2}$/,
};
/** Longer values say nothing that is looked at; pictures in `url(data:...)` are such. */
const MAX_VALUE_CHARACTERS = 1_000;
/** Declarations of a block are told apart between two whole orders. */
const BETWEEN_DECLARATIONS = 1e-6;
/** Shorthands set what a longer name set before. */
const SHORTHANDS: Readonly<Record<string, readonly string[]>> = {
  background: ["background-color", "background-image"],
  font: ["font-size"],
};

/** Collects what a block of declarations says, without its braces, into what was said before. */
export function readDeclarations(
  css: string,
  into: Declarations = new Map(),
  order = 0,
): Declarations {
  for (const [i, declaration] of splitOutside(withoutComments(css), ";").entries()) {
    const colon = declaration.indexOf(":");
    if (colon < 0) continue;
    const property = unescape(declaration.slice(0, colon)).trim().toLowerCase();
    if (!READ_PROPERTIES.has(property)) continue;
    put(into, property, declaration.slice(colon + 1), order + i * BETWEEN_DECLARATIONS);
  }
  return into;
}

function put(into: Declarations, property: string, given: string, order: number): void {
  const whole = given.trim();
  // The end of a long value still says whether it is important.
  const important = /!\s{0,9}important$/i.test(whole.slice(-30));
  const value = unescape(whole.slice(0, MAX_VALUE_CHARACTERS)).toLowerCase()
    .replace(/!\s*important$/, "").replaceAll(/\s+/g, " ").trim();
  const allowed = KEYWORDS[property.replace(/-[xy]$/, "")];
  if (value === "" || (allowed !== undefined && !allowed.test(value))) return;
  const before = into.get(property);
  if (before?.important && !important) return;
  // A Map keeps the place of a key that it has: what is read later has to stand later.
  into.delete(property);
  into.set(property, { value, important, order });
  for (const longer of SHORTHANDS[property] ?? []) {
    if (important || !into.get(longer)?.important) into.delete(longer);
  }
}

/** The parts of a text between separators that stand in no quotes and no parentheses. */
export function splitOutside(css: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let quote = "";
  let depth = 0;
  for (let i = 0; i < css.length; i++) {
    const char = css[i]!;
    if (char === "\\") i++;
    else if (quote !== "") {
      // A line end closes a string that nobody closed (CSS Syntax 3, 4.3.5).
      if (char === quote || char === "\n") quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if (char === "(") depth++;
    else if (char === ")") depth = Math.max(0, depth - 1);
    else if (char === separator && depth === 0) {
      parts.push(css.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(css.slice(start));
  return parts;
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
