/** The attributes that stay in a reduced HTML, rewritten in one order (docs/mail.md). Pure. */
import type { Token } from "parse5";
import { readAttributeColor } from "../../reading/css/colors.ts";
import { cleanText, escapeHtml, withoutLeading } from "./clean_text.ts";
import { BLOCKS, fontFactor, indentOf } from "./element_rules.ts";
import type { RemovedNames } from "./removed_names.ts";
import { reduceStyle } from "./reduce_style.ts";
import { chooseColors, FIRST_COLORS, hexOf, type ShownColors } from "./shown_colors.ts";

/** How an element of the reduced HTML looks: what those in it depend on. */
export interface ReducedLook {
  colors: ShownColors;
  fontPx: number;
  /** Pixels that all around it indent it by. */
  indentPx: number;
  isInTable: boolean;
  /** Direction of lines, as it is written. */
  direction: Direction;
  /**
   * Direction of lines, as it was asked for. Lines from the right that are too long end left of where anybody can
   * scroll. Cells grow with theirs; elsewhere blocks have lines from the left, and what stands in these is
   * written from the right (html_writer.ts).
   */
  lines: Direction;
}

export type Direction = "ltr" | "rtl";

export const FIRST_REDUCED_LOOK: ReducedLook = {
  colors: FIRST_COLORS,
  fontPx: 16,
  indentPx: 0,
  isInTable: false,
  direction: "ltr",
  lines: "ltr",
};

export interface ReducedAttributes {
  /** As they follow the name, each with a space before it. */
  written: string;
  look: ReducedLook;
}

/** What an attribute may say, and which element may have it. */
export interface AttributeRequest {
  /** Name of the element being written. */
  name: string;
  attrs: readonly Token.Attribute[];
  around: ReducedLook;
  /** What is known already: `href` of links, `src` of pictures, `colspan` and `rowspan` as they fit. */
  given: Readonly<Record<string, string>>;
}

const ORDER = [
  "href",
  "src",
  "alt",
  "width",
  "height",
  "colspan",
  "rowspan",
  "align",
  "dir",
  "lang",
  "start",
];
/** Longer ones say nothing that stays. */
const MAX_STYLE_CHARACTERS = 8_000;
const MAX_ALT_CHARACTERS = 1_000;
export const MAX_INDENT_PX = 400;
/** Smaller letters are not to be read. */
const LEAST_FONT_PX = 9;
const GREATEST_FONT_PX = 96;

/** @returns null for an element in which text could not be read, or not be found */
export function reduceAttributes(
  { name, attrs, around, given }: AttributeRequest,
  removed: RemovedNames,
): ReducedAttributes | null {
  const fontPx = around.fontPx * fontFactor(name);
  const indentPx = around.indentPx + indentOf(name);
  if (fontPx < LEAST_FONT_PX || fontPx > GREATEST_FONT_PX || indentPx > MAX_INDENT_PX) return null;
  const isPlain = attrs.length === 0 && around.direction === "ltr" && name !== "a" &&
    name !== "table" &&
    Object.keys(given).length === 0;
  if (isPlain) return { written: "", look: { ...around, fontPx, indentPx } };
  const values: Record<string, string> = { ...given };
  let css = "";
  let bgcolor: string | undefined;
  for (const { name: attribute, value } of attrs) {
    if (attribute === "style" && value.length <= MAX_STYLE_CHARACTERS) css = value;
    else if (attribute === "bgcolor") bgcolor = value;
    else if (!Object.hasOwn(given, attribute)) {
      const reduced = reducedValue(name, attribute, value, around.isInTable);
      if (reduced === undefined) removed.addNamed("attribute", attribute);
      else values[attribute] = reduced;
    }
  }
  const isInTable = around.isInTable || name === "table";
  const style = reduceStyle(css, {
    name,
    parentFontPx: around.fontPx,
    fontPx,
    isInTable: around.isInTable,
    indentLeftPx: MAX_INDENT_PX - indentPx,
  }, (property) => removed.addNamed("style", property));
  const isTable = name === "table";
  const { direction, lines } = directionOf(name, around, values, removed);
  const isFromRight = lines === "rtl" && around.lines === "ltr" && BLOCKS.has(name);
  if (isFromRight && values["align"] === undefined && !style.declarations.has("text-align")) {
    style.declarations.set("text-align", "right");
  }
  const colors = chooseColors(around.colors, {
    text: style.color === "inherit" ? around.colors.text[0] : style.color,
    background: style.background ??
      (bgcolor === undefined ? undefined : readAttributeColor(bgcolor)),
    isLink: name === "a",
    saysText: isTable,
  });
  if (colors.isChanged) removed.addNamed("style", "color");
  const { declarations } = style;
  if (colors.text !== null) declarations.set("color", hexOf(colors.text));
  if (colors.background !== null) declarations.set("background-color", hexOf(colors.background));
  // Old rendering, which mail without a doctype gets, starts again in each table.
  if (isTable && !declarations.has("font-size") && style.fontPx !== 16) {
    declarations.set("font-size", `${Math.round(style.fontPx * 100) / 100}px`);
  }
  const written = ORDER.filter((one) => Object.hasOwn(values, one))
    .map((one) => ` ${one}="${escapeHtml(values[one]!)}"`).join("");
  const declared = writeStyle(declarations);
  return {
    written: written + (declared === "" ? "" : ` style="${escapeHtml(declared)}"`),
    look: {
      colors: colors.shown,
      fontPx: style.fontPx,
      indentPx: indentPx + style.indentPx,
      isInTable,
      direction,
      lines,
    },
  };
}

/** The direction of an element's lines; `dir` of its values becomes what is written. */
function directionOf(
  name: string,
  around: ReducedLook,
  values: Record<string, string>,
  removed: RemovedNames,
): Pick<ReducedLook, "direction" | "lines"> {
  const { dir } = values;
  const wanted = dir === undefined ? undefined : dir === "ltr" ? "ltr" : "rtl";
  if (name === "table" && !around.isInTable) {
    const direction = wanted ?? around.lines;
    if (direction !== around.direction) values["dir"] ??= direction;
    return { direction, lines: "ltr" };
  }
  if (around.isInTable || !BLOCKS.has(name)) {
    const direction = wanted ?? around.direction;
    return { direction, lines: around.isInTable ? "ltr" : wanted ?? around.lines };
  }
  if (dir === "auto") removed.addNamed("attribute", "dir");
  if (dir !== "ltr") delete values["dir"];
  if (around.direction === "rtl") values["dir"] = "ltr";
  return { direction: "ltr", lines: dir === "auto" ? around.lines : wanted ?? around.lines };
}

/** undefined for what does not stay. */
function reducedValue(
  name: string,
  attribute: string,
  value: string,
  isInTable: boolean,
): string | undefined {
  switch (attribute) {
    case "alt": {
      const text = cleanText(value.slice(0, MAX_ALT_CHARACTERS)).text;
      return name === "img"
        ? withoutLeading(text.replaceAll(/\s+/g, " ").trim(), "\u200b")
        : undefined;
    }
    case "width":
      return size(
        value,
        { img: 1_000, table: 1_000, hr: 1_000, td: 600, th: 600 }[name],
        // A share of a cell does not make the cell larger: a picture would stand over what is beside it.
        name !== "img" || !isInTable,
      );
    case "height":
      return size(value, name === "img" ? 2_000 : undefined, false);
    case "align":
      return align(name, value.trim().toLowerCase());
    case "dir": {
      const dir = value.trim().toLowerCase();
      return /^(?:ltr|rtl|auto)$/.test(dir) ? dir : undefined;
    }
    case "lang":
      return /^[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,4}$/i.test(value) ? value : undefined;
    case "start":
      return name === "ol" && /^-?\d{1,5}$/.test(value) ? String(Number(value)) : undefined;
    default:
      return undefined;
  }
}

/** @param most pixels; undefined where the element has none */
function size(value: string, most: number | undefined, takesPercent = true): string | undefined {
  const [, digits, unit] = /^\s{0,9}(\d{1,4})(?:\.\d{0,9})?(%|px)?\s{0,9}$/.exec(value) ?? [];
  if (digits === undefined || most === undefined || (unit === "%" && !takesPercent)) {
    return undefined;
  }
  const number = Number(digits);
  return number < 1 || number > (unit === "%" ? 100 : most)
    ? undefined
    : `${number}${unit === "%" ? "%" : ""}`;
}

/** Not what lets text flow around something: it would stand over words that are wider than their box. */
function align(name: string, value: string): string | undefined {
  const allowed = name === "img"
    ? /^(?:top|middle|bottom)$/
    : name === "table"
    ? /^center$/
    : /^(?:p|div|h[1-6]|hr|td|th|tr|thead|tbody|tfoot)$/.test(name)
    ? /^(?:left|center|right|justify)$/
    : undefined;
  return allowed?.test(value) ? value : undefined;
}

const SHORTHANDS = ["margin", "padding", "border"];
const SIDES = ["top", "right", "bottom", "left"];

/** In alphabetical order; four sides as one declaration. */
function writeStyle(declarations: ReadonlyMap<string, string>): string {
  const written = new Map(declarations);
  for (const shorthand of SHORTHANDS) {
    const sides = SIDES.map((side) => written.get(`${shorthand}-${side}`));
    const isSame = new Set(sides).size === 1;
    if (sides.includes(undefined) || (shorthand === "border" && !isSame)) continue;
    for (const side of SIDES) written.delete(`${shorthand}-${side}`);
    written.set(shorthand, isSame ? sides[0]! : sides.join(" "));
  }
  return [...written].sort(([a], [b]) => a < b ? -1 : 1).map(([name, value]) => `${name}:${value}`)
    .join(";");
}
