// Over 300 lines: what hides a text is one list of rules, and reads best in one place.
/** Which parts of an HTML message nobody sees. Pure rules; the list stands in docs/mail.md. */
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
const LEAST_FONT_PX = 2;
const FAR_OUTSIDE_PX = 999;
/** Leaves less than 2 px of letters that are 16 px high. */
const MAX_SCALE = 0.12;
/** Size of a picture, or of a box that cuts off its content. */
const MAX_TINY_PX = 1;
/** They move what is positioned alone. */
const OFFSETS = ["left", "top", "right", "bottom", "inset", "inset-block", "inset-inline"];
const MARGINS = [
  "margin",
  "margin-left",
  "margin-top",
  "margin-right",
  "margin-bottom",
  "margin-block",
  "margin-inline",
];

/** How an element looks: what may hide its text. */
export interface Look {
  /** It is gone with all that it holds. */
  gone: boolean;
  /** `visibility`, which what it holds may set again. */
  unseen: boolean;
  opacity: number;
  fontPx: number;
  color: Color;
  /** What text is filled with in place of its colour; null for none. */
  fill: Color | null;
  /** The nearest background; null where that is a picture. */
  background: Color | null;
  /** A picture or a gradient is nearer than that. */
  isOnPicture: boolean;
  /** Line ends and spaces stay as they are. */
  preformatted: boolean;
  /** None of the text directly in it is seen. */
  hidesText: boolean;
  /** A picture directly in it is not seen. */
  hidesPictures: boolean;
  /** Something that cannot be judged may hide its text. */
  isNotJudged: boolean;
}

export const FIRST_LOOK: Look = {
  gone: false,
  unseen: false,
  opacity: 1,
  fontPx: MEDIUM_PX,
  color: BLACK,
  fill: null,
  background: WHITE,
  isOnPicture: false,
  preformatted: false,
  hidesText: false,
  hidesPictures: false,
  isNotJudged: false,
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
  /** The background comes from an attribute, if it has one. */
  background: Color | undefined;
  hasPicture: boolean;
  /** undefined: the parent's. */
  color: Color | undefined;
  gone: boolean;
  preformatted: boolean;
  isNotJudged: boolean;
}

/** What browsers do not show, unless a style says otherwise (HTML, section 15.3.1). */
const NOT_SHOWN: ReadonlySet<string> = new Set(
  "annotation annotation-xml audio canvas datalist meter mphantom progress rp video".split(" "),
);

/** @returns null for an element that looks as its parent does */
export function ownLook(of: LookAttributes, declared: Declarations): OwnLook | null {
  const isPlain = declared.size === 0 && !of.hidden && !of.isLink && of.bgcolor === undefined &&
    of.color === undefined && of.picture === undefined && !PREFORMATTED.has(of.name) &&
    !NOT_SHOWN.has(of.name) && !isTiny(of);
  if (isPlain) return null;
  const effects = effectsOf(declared);
  const { background, setsBackground, hasPicture = (of.picture ?? "") !== "" } = effects;
  const { height = of.height, width = of.width } = effects;
  const isCut = effects.cuts && (effects.isEmpty || isTiny({ height, width }));
  const isUndisplayed = (of.hidden || NOT_SHOWN.has(of.name)) && !effects.isDisplayed;
  return {
    effects,
    background: setsBackground || of.bgcolor === undefined
      ? background
      : readAttributeColor(of.bgcolor),
    hasPicture,
    color: colorOf(of, effects.color),
    gone: isUndisplayed || effects.gone || (isCut && !effects.isPadded) ||
      (of.name === "img" && isTiny({ height, width })),
    preformatted: PREFORMATTED.has(of.name),
    isNotJudged: effects.isNotJudged || (isCut && effects.isPadded),
  };
}

/** Whether nothing is to be seen in a height or a width. */
function isTiny({ height, width }: Pick<LookAttributes, "height" | "width">): boolean {
  return isTinyLength(height) || isTinyLength(width);
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
  const fill = effects.fill === undefined ? parent.fill : effects.fill;
  const gone = parent.gone || own.gone || opacity <= MAX_OPACITY;
  const unseen = effects.unseen ?? parent.unseen;
  return {
    gone,
    unseen,
    opacity,
    fontPx,
    color,
    fill,
    background,
    isOnPicture: own.hasPicture || (parent.isOnPicture && own.background?.alpha !== 1),
    preformatted: effects.preformatted ?? (parent.preformatted || own.preformatted),
    hidesText: gone || unseen || fontPx < LEAST_FONT_PX ||
      (background !== null && isInvisible(fill ?? color, background)),
    hidesPictures: gone || unseen,
    isNotJudged: parent.isNotJudged || own.isNotJudged,
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
  /** null: its colour; undefined: as the parent. */
  fill: Color | null | undefined;
  background: Color | undefined;
  /** Whether a background is declared that may be none: it wins over an attribute's. */
  setsBackground: boolean;
  hasPicture: boolean | undefined;
  /** What is larger than the element is cut off. */
  cuts: boolean;
  isEmpty: boolean;
  /** Whether it has room beside its content where overflow can be seen. */
  isPadded: boolean;
  /** Whether `display` says that it is shown. */
  isDisplayed: boolean;
  isNotJudged: boolean;
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
      get("content-visibility") === "hidden" || isScaledAway(get("scale")) ||
      isScaledAway(get("zoom")) ||
      (/^(?:absolute|fixed)$/.test(get("position") ?? "") && isClippedAway(get("clip"))) ||
      isPathEmpty(get("clip-path")),
    opacity: opacityOf(get("opacity")) * opacityOfFilter(get("filter")),
    unseen: visibility === undefined || /^(?:inherit|unset|revert)$|\(/.test(visibility)
      ? undefined
      : visibility === "hidden" || visibility === "collapse",
    preformatted: space === undefined || space === "inherit"
      ? undefined
      : /^(?:pre|break-spaces)/.test(space),
    fontSize: readFont(declared),
    color: readTextColor(get("color")),
    fill: readFill(get("-webkit-text-fill-color")),
    ...readBackground(declared),
    cuts: cutsOff(get),
    isEmpty: isTinyLength(get("max-height")) || isTinyLength(get("max-width")),
    isPadded: PADDINGS.some((name) => /[1-9]|\(/.test(get(name) ?? "")),
    isDisplayed: !/^(?:none|inherit|initial|unset|revert)$/.test(get("display") ?? "none"),
    isNotJudged: isBeyondUs(get),
    height: get("height"),
    width: get("width"),
  };
}

const PADDINGS = ["padding", "padding-top", "padding-right", "padding-bottom", "padding-left"];
/** Functions whose value depends on what is not known here. */
const UNKNOWN_VALUE =
  /\b(?:var|env|attr|if|calc|min|max|clamp|color|color-mix|light-dark|device-cmyk|contrast-color)\(/;
const JUDGED_BY_VALUE = [
  ...OFFSETS,
  "background",
  "background-color",
  "clip",
  "color",
  "-webkit-text-fill-color",
  "display",
  "font",
  "font-size",
  "margin",
  "margin-inline",
  "margin-left",
  "margin-top",
  "opacity",
  "overflow",
  "overflow-x",
  "overflow-y",
  "position",
  "scale",
  "text-indent",
  "transform",
  "translate",
  "visibility",
  "zoom",
];
const SIZES = ["height", "max-height", "max-width", "width"];

function cutsOff(get: Get): boolean {
  return ["overflow", "overflow-x", "overflow-y"].some((name) =>
    /hidden|clip|auto|scroll/.test(get(name) ?? "")
  );
}

/** Whether what is cut off may be all of a text, by what moves it: less than a line is left. */
function mayCutAll(get: Get): boolean {
  return cutsOff(get) && (get("-webkit-line-clamp") !== undefined || SIZES.some((name) => {
    const size = get(name)?.slice(0, MAX_LENGTH_CHARACTERS) ?? "";
    return UNKNOWN_VALUE.test(size) || (toPx(size, MEDIUM_PX, WHOLE_PX) ?? MEDIUM_PX) < MEDIUM_PX;
  }));
}

/** Less moves letters a little; a line of it lays a text over another one. */
const MOVED_PX = MEDIUM_PX;

/** Whether text is shown elsewhere than in its order: over another text, before it, or backwards. */
function isMoved(get: Get): boolean {
  const pxOf = (name: string) =>
    (get(name) ?? "").split(" ").map((value) => toPx(value, MEDIUM_PX, WHOLE_PX) ?? 0);
  const position = get("position") ?? "";
  const [top = 0, , bottom = top] = pxOf("margin");
  return /^(?:absolute|fixed)$/.test(position) ||
    (isPositioned(get) &&
      OFFSETS.some((name) => pxOf(name).some((px) => Math.abs(px) >= MOVED_PX))) ||
    [top, bottom, ...["margin-top", "margin-bottom", "margin-block"].flatMap(pxOf)]
      .some((px) => px <= -MOVED_PX) ||
    /translate[^)]*[1-9]|scale[^)]*-/.test(get("transform") ?? "") ||
    /[1-9]/.test(get("translate") ?? "") || /-/.test(get("scale") ?? "") ||
    /override/.test(get("unicode-bidi") ?? "") ||
    /reverse/.test(`${get("flex-direction")} ${get("flex-flow")}`) ||
    ["order", "grid-area", "grid-column", "grid-row"].some((name) =>
      !/^(?:0|auto|initial|unset|span \d+|1 ?\/ ?-1)$/.test(get(name) ?? "0")
    );
}

/** Whether a colour is one that is not read here. */
function isUnknownColor(value: string | undefined): boolean {
  return value?.endsWith(")") === true && readColor(value) === undefined;
}

/** Whether styles do what cannot be told from them, and may hide text by it. */
function isBeyondUs(get: Get): boolean {
  if (JUDGED_BY_VALUE.some((name) => UNKNOWN_VALUE.test(get(name) ?? ""))) return true;
  const isSet = (name: string, nothing: RegExp) => !nothing.test(get(name) ?? "none");
  return isSet("mask", /^none/) || isSet("mask-image", /^none/) ||
    isSet("-webkit-mask", /^none/) || isSet("-webkit-mask-image", /^none/) ||
    isSet("filter", /^none$|^(?:opacity|drop-shadow|grayscale|saturate|sepia)\([^()]*\)$/) ||
    isSet("mix-blend-mode", /^(?:none|normal)$/) || isSet("animation", /^none/) ||
    isSet("animation-name", /^none/) ||
    isSet("rotate", /^(?:none|[-+.\d]+(?:deg|rad|turn|grad))$/) ||
    /rotate[xy3]|matrix|skew|perspective/.test(get("transform") ?? "") ||
    isSet("clip-path", /^none$/) || mayCutAll(get) || isMoved(get) ||
    ["color", "-webkit-text-fill-color", "background-color"].some((name) =>
      isUnknownColor(get(name))
    ) ||
    /strict|size/.test(get("contain") ?? "") || /\(/.test(get("content") ?? "") ||
    isSet("-webkit-text-security", /^none$/) || isSet("font-size-adjust", /^none$/) ||
    isSet("offset", /^none$/) || isSet("offset-path", /^none$/) ||
    /^-/.test(get("z-index") ?? "") ||
    (/hidden|clip/.test(get("overflow") ?? "") && isTinyLength(get("line-height"))) ||
    (toPx(get("letter-spacing") ?? "", MEDIUM_PX) ?? 0) <= -MEDIUM_PX / 4;
}

/** Whether declarations may hide text, or let it be seen again. */
export function mayHide(declared: Declarations): boolean {
  if (declared.size === 0) return false;
  const e = effectsOf(declared);
  const { fontSize: size } = e;
  return e.gone || e.opacity < 1 || e.unseen !== undefined || e.color !== undefined ||
    e.fill !== undefined ||
    e.setsBackground || e.isEmpty || e.isNotJudged || isTiny(e) ||
    (size !== undefined && ("px" in size ? size.px < LEAST_FONT_PX : size.ofParent < 0.5));
}

/** Whether `content` has letters or digits in it. */
export function isText(content: string | undefined): boolean {
  if (content === undefined) return false;
  if (/\battr\(/.test(content)) return true;
  return [...content.matchAll(/"((?:[^"\\]|\\[^])*)"|'((?:[^'\\]|\\[^])*)'/g)]
    .some(([, double, single]) => /[\p{L}\p{N}]/u.test(double ?? single ?? ""));
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

function opacityOfFilter(value: string | undefined): number {
  const [, inside] = /\bopacity\(([^()]*)\)/.exec(value ?? "") ?? [];
  return inside === undefined ? 1 : opacityOf(inside.trim() || undefined);
}

function colorOf(of: LookAttributes, color: Effects["color"]): Color | undefined {
  if (color === "inherit") return undefined;
  if (color !== undefined) return color;
  // Browsers give links a colour of their own: they do not inherit their parent's.
  if (of.isLink) return LINK_BLUE;
  return of.color === undefined ? undefined : readAttributeColor(of.color);
}

function readFill(value: string | undefined): Effects["fill"] {
  if (value === undefined || value === "inherit" || value === "unset") return undefined;
  return readColor(value) ?? null;
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

const PICTURE = /(?:url|gradient|image|image-set|cross-fade|element|paint|var)\(/;

function readBackground(
  declared: Declarations,
): Pick<Effects, "background" | "setsBackground" | "hasPicture"> {
  let background: Color | undefined;
  let setsBackground = false;
  let hasPicture: boolean | undefined;
  for (const [property, { value }] of declared) {
    if (property === "background-image") hasPicture = PICTURE.test(value);
    if (property !== "background" && property !== "background-color") continue;
    const color = property === "background" ? colorIn(value) : readColor(value);
    if (property === "background") hasPicture = PICTURE.test(value);
    else if (color === undefined && !/^(?:initial|unset|revert)$/.test(value)) continue;
    background = color;
    setsBackground = true;
  }
  return { background, setsBackground, hasPicture };
}

/** The colour in the shorthand `background`. */
function colorIn(value: string): Color | undefined {
  const parts = value.match(
    /(?:rgba?|hsla?|hwb|(?:ok)?l(?:ab|ch))\([^()]{0,90}\)|[a-z-]{1,30}\([^()]{0,900}\)|[^\s()]{1,99}/g,
  );
  for (const part of parts ?? []) {
    const color = readColor(part);
    if (color !== undefined) return color;
  }
  return undefined;
}

/** A longer one is no length. */
const MAX_LENGTH_CHARACTERS = 100;

function isTinyLength(given: string | undefined): boolean {
  const length = given?.slice(0, MAX_LENGTH_CHARACTERS).trim().toLowerCase();
  if (length === undefined || length === "") return false;
  const px = toPx(length, MEDIUM_PX, WHOLE_PX);
  return px !== undefined && px <= MAX_TINY_PX;
}

/** What 100% are taken to be. */
const WHOLE_PX = 1_000;

function isPositioned(get: Get): boolean {
  return /^(?:absolute|fixed|relative|sticky|-webkit-sticky)$/.test(get("position") ?? "");
}

/** `scale` that leaves no surface. */
function isScaledAway(value: string | undefined): boolean {
  return value !== undefined && value.split(" ").some((number) => {
    const share = Number(number.replace(/%$/, "")) / (number.endsWith("%") ? 100 : 1);
    return Math.abs(share) <= MAX_SCALE;
  });
}

/** `em` counts as in a common font: text that is meant to be far away is much farther. */
function isFarOutside(get: Get): boolean {
  const lengthsOf = (values: string) =>
    values.split(/[\s,]/).map((value) => toPx(value, MEDIUM_PX) ?? 0);
  const isFar = (values: string) => lengthsOf(values).some((px) => Math.abs(px) >= FAR_OUTSIDE_PX);
  if (isFar(get("text-indent") ?? "") || isFar(get("translate") ?? "")) return true;
  if (isPositioned(get) && OFFSETS.some((name) => isFar(get(name) ?? ""))) return true;
  // A large margin at the left pushes the text itself away, one behind it what follows.
  if (isFar(get("margin-left") ?? "")) return true;
  if (MARGINS.some((name) => lengthsOf(get(name) ?? "").some((px) => px <= -FAR_OUTSIDE_PX))) {
    return true;
  }
  const transform = get("transform") ?? "";
  for (const [, name, inside] of transform.matchAll(/([a-z0-9]{1,20})\(([^()]*)\)/g)) {
    if (name!.startsWith("translate") && isFar(inside!)) return true;
    if (
      /^scale(?:x|y|3d)?$/.test(name!) &&
      inside!.split(",").some((n) => Math.abs(Number(n)) <= MAX_SCALE)
    ) {
      return true;
    }
  }
  return false;
}

/** `clip: rect()` that leaves no surface. */
function isClippedAway(clip: string | undefined): boolean {
  const [, edges] = /^rect\(([^()]*)\)$/.exec(clip ?? "") ?? [];
  if (edges !== undefined) {
    const [top, right, bottom, left] = edges.trim().split(/[\s,]+/).map((edge) =>
      toPx(edge, MEDIUM_PX)
    );
    if (bottom !== undefined && top !== undefined && bottom <= top) return true;
    if (right !== undefined && left !== undefined && right <= left) return true;
  }
  return false;
}

/** Shapes of `clip-path` that leave no surface. */
function isPathEmpty(path: string | undefined): boolean {
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
