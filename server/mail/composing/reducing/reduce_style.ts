/**
 * The declarations of a `style` attribute that stay in a reduced HTML, rewritten (docs/mail.md):
 * properties of one list, and of these the values that neither hide a text, nor lay it over
 * another, nor move it out of sight. Pure; linear in the value's length.
 */
import { type Color, readColor } from "../../reading/css/colors.ts";
import { withoutComments } from "../../reading/css/css_declarations.ts";
import { readFontSize, toPx } from "../../reading/css/css_lengths.ts";
import { fontFamilies } from "./font_families.ts";
import { hexOf } from "./shown_colors.ts";

/** Where the element stands: what its values depend on. */
export interface StyleContext {
  name: string;
  /** Font size of its parent, in pixels. */
  parentFontPx: number;
  /** Its own font where nothing is declared. */
  fontPx: number;
  /** Whether it stands in a table: only there something stands beside it. */
  isInTable: boolean;
  /** Pixels that it may still be indented by, on each side. */
  indentLeftPx: number;
}

export interface ReducedStyle {
  /** Without colours, which depend on the colours around. */
  declarations: Map<string, string>;
  color: Color | "inherit" | undefined;
  background: Color | undefined;
  fontPx: number;
  /** What margins and padding indent it by. */
  indentPx: number;
}

const MIN_FONT_PX = 10;
const MAX_FONT_PX = 48;
const MAX_SPACE_PX = 64;
const MAX_BORDER_PX = 8;
const MAX_WIDTH_PX = 1_000;
const MAX_CELL_PX = 600;
/** A narrower one would be a column of words. */
const MIN_BLOCK_PX = 100;
/** As high as the letters of common fonts reach; lines that are lower lie over each other. */
const MIN_LINE_HEIGHT = 1.2;
const MAX_LINE_HEIGHT = 3;
/** Longer values are none of those that stay. */
const MAX_VALUE_CHARACTERS = 300;
const SIDES = ["top", "right", "bottom", "left"] as const;
/** Values of one word that stay as they are. */
const WORDS: Readonly<Record<string, RegExp>> = {
  "font-style": /^(?:normal|italic|oblique)$/,
  "font-weight": /^(?:normal|bold|bolder|lighter|[1-9]00)$/,
  "list-style-type":
    /^(?:none|disc|circle|square|decimal|decimal-leading-zero|(?:lower|upper)-(?:alpha|latin|roman))$/,
  "text-align": /^(?:left|right|center|justify|start|end)$/,
  "text-decoration": /^(?:none|(?:(?:underline|overline|line-through) ?){1,3})$/,
  "vertical-align": /^(?:baseline|top|middle|bottom|sub|super)$/,
};
const SIDE = /^(margin|padding|border)-(?:top|right|bottom|left)$/;
const INDENTING = /^(?:margin|padding)-left$/;

/**
 * @param css value of the attribute
 * @param told is given the properties that do not stay, or not as they were
 */
export function reduceStyle(
  css: string,
  context: StyleContext,
  told: (property: string) => void,
): ReducedStyle {
  const removed = (property: string) => told(property.replace(SIDE, "$1"));
  const given = readValues(css, removed);
  const kept = new Map<string, string>();
  let { fontPx } = context;
  const size = given.get("font-size");
  if (size !== undefined) {
    const read = readFontSize(size);
    if (read === undefined) removed("font-size");
    else {
      const px = "px" in read ? read.px : read.ofParent * context.parentFontPx;
      fontPx = rounded(Math.min(Math.max(px, MIN_FONT_PX), MAX_FONT_PX));
      if (fontPx !== rounded(px)) removed("font-size");
      kept.set("font-size", `${fontPx}px`);
    }
  }
  let color: ReducedStyle["color"];
  let background: Color | undefined;
  let left = context.indentLeftPx;
  for (const [property, value] of given) {
    if (property === "font-size") continue;
    if (property === "color") {
      color = /^(?:inherit|currentcolor)$/.test(value) ? "inherit" : readColor(value);
      if (color === undefined) removed(property);
      continue;
    }
    if (property === "background-color") {
      background = readColor(value);
      if (background === undefined) removed(property);
      continue;
    }
    const reduced = reducedValue(property, value, fontPx, context);
    if (reduced === undefined) {
      removed(property);
      continue;
    }
    if (INDENTING.test(property) && reduced !== "auto") {
      const px = parseFloat(reduced);
      if (px > left) {
        removed(property);
        continue;
      }
      left -= px;
    }
    kept.set(property, reduced);
  }
  return { declarations: kept, color, background, fontPx, indentPx: context.indentLeftPx - left };
}

/** What is declared last of each property, shorthands taken apart. */
function readValues(css: string, removed: (property: string) => void): Map<string, string> {
  const values = new Map<string, string>();
  // What stands in quotes or parentheses is parted too: no piece of it is a value that stays.
  for (const declaration of withoutComments(css).split(";")) {
    const colon = declaration.indexOf(":");
    const property = declaration.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    if (property === "") continue;
    const whole = declaration.slice(colon + 1);
    const value = whole.length > MAX_VALUE_CHARACTERS
      ? ""
      : whole.toLowerCase().replace(/!\s*important\s*$/, "").replaceAll(/\s+/g, " ").trim();
    const longhands = value === "" ? undefined : longhandsOf(property, value);
    if (property === "background" && longhands?.[0]?.[1] !== value) removed(property);
    if (longhands === undefined) removed(property);
    else {
      for (const [name, one] of longhands) {
        values.delete(name);
        values.set(name, one);
      }
    }
  }
  return values;
}

/** undefined for a property that does not stay, and a shorthand that says nothing. */
function longhandsOf(property: string, value: string): [string, string][] | undefined {
  if (property === "margin" || property === "padding") {
    const sides = value.split(" ");
    const [top, right = top, bottom = top, left = right] = sides;
    if (sides.length > 4) return undefined;
    return [top, right, bottom, left].map((one, i) => [`${property}-${SIDES[i]}`, one!]);
  }
  if (property === "border") return SIDES.map((side) => [`border-${side}`, value]);
  if (property === "background") {
    const color = value.split(" ").find((word) => readColor(word) !== undefined) ??
      (readColor(value) === undefined ? undefined : value);
    return color === undefined ? undefined : [["background-color", color]];
  }
  if (property === "list-style") {
    return [["list-style-type", value.replace(/ ?\b(?:inside|outside)\b ?/, "")]];
  }
  if (property === "text-decoration-line") return [["text-decoration", value]];
  const isKept = Object.hasOwn(WORDS, property) ||
    /^(?:color|background-color|font-size|font-family|line-height|width|max-width|(?:margin|padding|border)-(?:top|right|bottom|left))$/
      .test(property);
  return isKept ? [[property, value]] : undefined;
}

function reducedValue(
  property: string,
  value: string,
  fontPx: number,
  context: StyleContext,
): string | undefined {
  // In a line, what is set to its top or bottom may lie over the line beside it.
  if (property === "vertical-align" && (value === "top" || value === "bottom")) {
    return /^(?:td|th|tr)$/.test(context.name) ? value : undefined;
  }
  if (Object.hasOwn(WORDS, property)) return WORDS[property]!.test(value) ? value : undefined;
  if (property === "font-family") return fontFamilies(value);
  if (property === "line-height") return lineHeight(value, fontPx);
  if (property === "width" || property === "max-width") return widthOf(property, value, context);
  if (property.startsWith("border-")) return border(value);
  return space(property, value, fontPx, context);
}

/** As a number, since a length would be handed on to larger letters. */
function lineHeight(value: string, fontPx: number): string | undefined {
  if (value === "normal") return value;
  const number = /^\d*\.?\d+$/.test(value)
    ? Number(value)
    : (toPx(value, fontPx, fontPx) ?? NaN) / fontPx;
  if (Number.isNaN(number)) return undefined;
  return String(rounded(Math.min(Math.max(number, MIN_LINE_HEIGHT), MAX_LINE_HEIGHT)));
}

/**
 * Words wider than their box lie over what is beside it. Only tables have boxes side by side, and their
 * cells grow with their words unless there is a `max-width`.
 */
function widthOf(
  property: "width" | "max-width",
  value: string,
  { name, isInTable, fontPx }: StyleContext,
): string | undefined {
  const isCell = name === "td" || name === "th";
  const isTable = name === "table";
  const isPicture = name === "img";
  if (property === "max-width" && (isCell || (isInTable && !isPicture && !isTable))) {
    return undefined;
  }
  if (isInTable && !isCell && !isTable && !isPicture) return undefined;
  const [, percent] = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(value) ?? [];
  if (percent !== undefined) {
    // A share of a cell does not make the cell larger.
    if (isPicture && isInTable) return undefined;
    const least = isCell || isTable || isPicture ? 1 : 50;
    return Number(percent) >= least && Number(percent) <= 100
      ? `${rounded(Number(percent))}%`
      : undefined;
  }
  const px = toPx(value, fontPx);
  const least = isCell || isPicture ? 1 : MIN_BLOCK_PX;
  const most = isCell ? MAX_CELL_PX : MAX_WIDTH_PX;
  return px === undefined || px < least || px > most ? undefined : `${rounded(px)}px`;
}

function space(
  property: string,
  value: string,
  fontPx: number,
  { isInTable, name }: StyleContext,
): string | undefined {
  const isBeside = /-(?:left|right)$/.test(property);
  const isMargin = property.startsWith("margin");
  if (value === "auto") return isMargin && isBeside ? value : undefined;
  const px = toPx(value, fontPx);
  if (px === undefined || px < 0 || px > MAX_SPACE_PX) return undefined;
  // With a width in percent it would reach into what is beside it.
  const reaches = isInTable && isBeside && px > 0 && name === "table" && isMargin;
  return reaches ? undefined : `${rounded(px)}px`;
}

function border(value: string): string | undefined {
  let width: number | undefined;
  let style: string | undefined;
  let color: Color | undefined;
  for (const word of value.match(/[a-z-]+\([^()]*\)|[^ ]+/g) ?? []) {
    const px = { thin: 1, medium: 3, thick: 5 }[word] ?? toPx(word, 16);
    if (/^(?:none|solid|dashed|dotted|double|hidden)$/.test(word)) style = word;
    else if (px !== undefined) width = px;
    else {
      color = readColor(word);
      if (color === undefined) return undefined;
    }
  }
  if (style === undefined || style === "none" || style === "hidden" || width === 0) return "none";
  if (width === undefined) width = 3;
  if (width < 0 || width > MAX_BORDER_PX) return undefined;
  if (color === undefined) return `${rounded(width)}px ${style}`;
  return color.alpha === 0 ? "none" : `${rounded(width)}px ${style} ${hexOf(color)}`;
}

function rounded(number: number): number {
  return Math.round(number * 100) / 100;
}
