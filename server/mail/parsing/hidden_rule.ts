// Over 300 lines: what hides a text is one list of rules, and reads best in one place.
/** What of an HTML message nobody sees. Pure rules; the list stands in the mail page, "Receiving". */
import {
  BLACK,
  type Color,
  isInvisible,
  LINK_BLUE,
  readAttributeColor,
  readColor,
  seenOver,
  WHITE,
} from "./colors.ts";
import type { Declarations } from "./css_declarations.ts";
import { type FontSize, MEDIUM_PX, readFontShorthand, readFontSize, toPx } from "./css_lengths.ts";

const MAX_OPACITY = 0.05;
const MAX_FONT_PX = 1;
const FAR_OUTSIDE_PX = -999;
const OFFSETS = [
  "left",
  "top",
  "right",
  "bottom",
  "inset",
  "text-indent",
  "margin",
  "margin-left",
  "margin-top",
  "margin-right",
  "margin-bottom",
  "translate",
];

/** How an element looks, as far as its text may not be seen. */
export interface Look {
  /** It is gone with all that it holds. */
  gone: boolean;
  /** `visibility`, which what it holds may set again. */
  unseen: boolean;
  opacity: number;
  fontPx: number;
  color: Color;
  /** The nearest background; null where that is a picture. */
  background: Color | null;
  /** Line ends and spaces stay as they are. */
  preformatted: boolean;
  /** None of the text directly in it is seen. */
  hidesText: boolean;
  /** A picture directly in it is not seen. */
  hidesPictures: boolean;
}

export const FIRST_LOOK: Look = {
  gone: false,
  unseen: false,
  opacity: 1,
  fontPx: MEDIUM_PX,
  color: BLACK,
  background: WHITE,
  preformatted: false,
  hidesText: false,
  hidesPictures: false,
};

/** The attributes of an element that its look depends on, beside class, id and style. */
export interface LookAttributes {
  name: string;
  hidden: boolean;
  isLink: boolean;
  bgcolor?: string | undefined;
  /** `color` of font, `text` of body. */
  color?: string | undefined;
  /** `background`, the address of a picture. */
  picture?: string | undefined;
  width?: string | undefined;
  height?: string | undefined;
}

/** What an element does to its look, whatever it stands in: worked out once, however often it is reopened. */
export interface OwnLook {
  effects: Effects;
  /** The background is that of an attribute, if it has one. */
  background: Color | undefined;
  hasPicture: boolean;
  /** undefined: that of the parent. */
  color: Color | undefined;
  gone: boolean;
  preformatted: boolean;
}

/** @returns null for an element that looks as its parent does */
export function ownLook(of: LookAttributes, declared: Declarations): OwnLook | null {
  const isPlain = declared.size === 0 && !of.hidden && !of.isLink && of.bgcolor === undefined &&
    of.color === undefined && of.picture === undefined && !PREFORMATTED.has(of.name);
  if (isPlain) return null;
  const effects = effectsOf(declared);
  const { background, setsBackground, hasPicture = (of.picture ?? "") !== "" } = effects;
  return {
    effects,
    background: setsBackground || of.bgcolor === undefined
      ? background
      : readAttributeColor(of.bgcolor),
    hasPicture,
    color: colorOf(of, effects.color),
    gone: of.hidden || effects.gone || (effects.cuts &&
      (effects.isEmpty || isZero(effects.height ?? of.height) ||
        isZero(effects.width ?? of.width))),
    preformatted: PREFORMATTED.has(of.name),
  };
}

/** How an element looks in its parent. Takes the same time for every one. */
export function lookIn(parent: Look, own: OwnLook | null): Look {
  if (own === null) return parent;
  const { effects } = own;
  const { fontSize } = effects;
  const fontPx = fontSize === undefined
    ? parent.fontPx
    : "px" in fontSize
    ? fontSize.px
    : fontSize.ofParent * parent.fontPx;
  const opacity = parent.opacity * effects.opacity;
  const background = backgroundIn(parent, own);
  const color = own.color ?? parent.color;
  const gone = parent.gone || own.gone || opacity <= MAX_OPACITY;
  const unseen = effects.unseen ?? parent.unseen;
  return {
    gone,
    unseen,
    opacity,
    fontPx,
    color,
    background,
    preformatted: effects.preformatted ?? (parent.preformatted || own.preformatted),
    hidesText: gone || unseen || fontPx <= MAX_FONT_PX ||
      (background !== null && isInvisible(color, background)),
    hidesPictures: gone || unseen,
  };
}

/** Elements whose line ends and spaces stay. */
export const PREFORMATTED: ReadonlySet<string> = new Set([
  "pre",
  "listing",
  "plaintext",
  "textarea",
  "xmp",
]);

/** What declarations do, whatever they stand in. */
interface Effects {
  gone: boolean;
  opacity: number;
  /** undefined: as the parent. */
  unseen: boolean | undefined;
  preformatted: boolean | undefined;
  /** undefined: as the parent. */
  fontSize: FontSize | undefined;
  color: Color | "inherit" | undefined;
  background: Color | undefined;
  /** Whether a background is declared that may be none: it holds against that of an attribute. */
  setsBackground: boolean;
  hasPicture: boolean | undefined;
  /** What is larger than the element is cut off. */
  cuts: boolean;
  isEmpty: boolean;
  height: string | undefined;
  width: string | undefined;
}

type Get = (property: string) => string | undefined;

/** Most elements share their declarations with others. */
const EFFECTS = new WeakMap<Declarations, Effects>();

function effectsOf(declared: Declarations): Effects {
  let effects = EFFECTS.get(declared);
  if (effects === undefined) EFFECTS.set(declared, effects = readEffects(declared));
  return effects;
}

function readEffects(declared: Declarations): Effects {
  const get = (property: string) => declared.get(property)?.value;
  const visibility = get("visibility");
  const space = get("white-space");
  return {
    gone: get("display") === "none" || get("mso-hide") === "all" || isFarOutside(get) ||
      isClippedAway(get("clip"), get("clip-path")),
    opacity: opacityOf(get("opacity")),
    unseen: visibility === undefined || /^(?:inherit|unset|revert)$/.test(visibility)
      ? undefined
      : visibility === "hidden" || visibility === "collapse",
    preformatted: space === undefined || space === "inherit"
      ? undefined
      : /^(?:pre|break-spaces)/.test(space),
    fontSize: readFont(declared),
    color: readTextColor(get("color")),
    ...readBackground(declared),
    cuts: ["overflow", "overflow-x", "overflow-y"].some((name) =>
      /hidden|clip/.test(get(name) ?? "")
    ),
    isEmpty: isZero(get("max-height")) || isZero(get("max-width")),
    height: get("height"),
    width: get("width"),
  };
}

/** The last height that is one. */
function readFont(declared: Declarations): FontSize | undefined {
  let size: FontSize | undefined;
  for (const [property, { value }] of declared) {
    if (property === "font") size = readFontShorthand(value) ?? size;
    else if (property === "font-size") size = readFontSize(value) ?? size;
  }
  return size;
}

function opacityOf(value: string | undefined): number {
  const [, digits, percent] = /^([-+]?(?:\d{1,20}\.?\d{0,20}|\.\d{1,20})(?:e[-+]?\d{1,3})?)(%?)$/
    .exec(value ?? "1") ?? [];
  if (digits === undefined) return 1;
  return Math.min(Math.max(Number(digits) / (percent === "%" ? 100 : 1), 0), 1);
}

function colorOf(of: LookAttributes, color: Effects["color"]): Color | undefined {
  if (color === "inherit") return undefined;
  if (color !== undefined) return color;
  // Browsers give links a colour of their own: they do not take over that of what they stand in.
  if (of.isLink) return LINK_BLUE;
  return of.color === undefined ? undefined : readAttributeColor(of.color);
}

function readTextColor(value: string | undefined): Effects["color"] {
  if (value === undefined) return undefined;
  if (/^(?:inherit|currentcolor|unset)$/.test(value)) return "inherit";
  return value === "initial" ? BLACK : readColor(value);
}

/** The nearest background that is no glass; what shines through is mixed. */
function backgroundIn(parent: Look, { background, hasPicture }: OwnLook): Color | null {
  if (background !== undefined && background.alpha > 0) {
    return background.alpha === 1 || parent.background === null
      ? background
      : seenOver(background, parent.background);
  }
  return hasPicture ? null : parent.background;
}

function readBackground(
  declared: Declarations,
): Pick<Effects, "background" | "setsBackground" | "hasPicture"> {
  let background: Color | undefined;
  let setsBackground = false;
  let hasPicture: boolean | undefined;
  for (const [property, { value }] of declared) {
    if (property === "background-image") hasPicture = value !== "none";
    if (property !== "background" && property !== "background-color") continue;
    const color = property === "background" ? colorIn(value) : readColor(value);
    if (property === "background") hasPicture = /url\(|gradient\(|image/.test(value);
    else if (color === undefined) continue;
    background = color;
    setsBackground = true;
  }
  return { background, setsBackground, hasPicture };
}

/** The colour in the shorthand `background`. */
function colorIn(value: string): Color | undefined {
  const parts = value.match(
    /(?:rgb|hsl)a?\([^()]{0,90}\)|[a-z-]{1,30}\([^()]{0,900}\)|[^\s()]{1,99}/g,
  );
  for (const part of parts ?? []) {
    const color = readColor(part);
    if (color !== undefined) return color;
  }
  return undefined;
}

/** A longer one is no length. */
const MAX_LENGTH_CHARACTERS = 100;

function isZero(given: string | undefined): boolean {
  const length = given?.slice(0, MAX_LENGTH_CHARACTERS);
  return length !== undefined && toPx(length.trim(), MEDIUM_PX, 1) === 0;
}

/** `em` counts as that of a common font: what is meant to be far is much farther. */
function isFarOutside(get: Get): boolean {
  const isFar = (values: string) =>
    values.split(/[\s,]/).some((value) => (toPx(value, MEDIUM_PX) ?? 0) <= FAR_OUTSIDE_PX);
  if (OFFSETS.some((name) => isFar(get(name) ?? ""))) return true;
  const transform = get("transform") ?? "";
  for (const [, name, inside] of transform.matchAll(/([a-z0-9]{1,20})\(([^()]*)\)/g)) {
    if (name!.startsWith("translate") && isFar(inside!)) return true;
    if (/^scale(?:x|y|3d)?$/.test(name!) && inside!.split(",").some((n) => Number(n) === 0)) {
      return true;
    }
  }
  return false;
}

/** `clip: rect()` and the shapes of `clip-path` of which no surface is left. */
function isClippedAway(clip: string | undefined, path: string | undefined): boolean {
  const [, edges] = /^rect\(([^()]*)\)$/.exec(clip ?? "") ?? [];
  if (edges !== undefined) {
    const [top, right, bottom, left] = edges.trim().split(/[\s,]+/).map((edge) =>
      toPx(edge, MEDIUM_PX)
    );
    if (bottom !== undefined && top !== undefined && bottom <= top) return true;
    if (right !== undefined && left !== undefined && right <= left) return true;
  }
  const [, shape, inside] = /^([a-z]{1,20})\(([^()]*)\)/.exec(path ?? "") ?? [];
  if (shape === undefined || inside === undefined) return false;
  const numbers = inside.split(/\bround\b|\bat\b/, 1)[0]!.trim().split(/[\s,]+/);
  if (shape === "inset") {
    const [top, right = top, bottom = top, left = right] = numbers.map((n) =>
      toPx(n, MEDIUM_PX, 1_000)
    );
    return (top ?? 0) + (bottom ?? 0) >= 1_000 || (left ?? 0) + (right ?? 0) >= 1_000;
  }
  if (shape === "circle" || shape === "ellipse") {
    return numbers.some((n) => toPx(n, MEDIUM_PX, 1) === 0);
  }
  if (shape === "xywh") return numbers.slice(2).some((n) => toPx(n, MEDIUM_PX, 1) === 0);
  const points = new Set(
    inside.split(",").map((point) => point.trim().replaceAll(/\b0(?:px|%)/g, "0")),
  );
  return shape === "polygon" && points.size === 1;
}
