/** Colours as CSS and old HTML attributes write them. Pure; linear in the value's length. */
import { COLOR_NAMES } from "./color_names.ts";

/** Red, green and blue from 0 to 255, and how opaque it is, from 0 to 1. */
export interface Color {
  red: number;
  green: number;
  blue: number;
  alpha: number;
}

export const BLACK: Color = { red: 0, green: 0, blue: 0, alpha: 1 };
export const WHITE: Color = { red: 255, green: 255, blue: 255, alpha: 1 };
/** What browsers colour a link in. */
export const LINK_BLUE: Color = { red: 0, green: 0, blue: 238, alpha: 1 };
const TRANSPARENT: Color = { red: 0, green: 0, blue: 0, alpha: 0 };
/** Longer values are no colour. */
const MAX_COLOR_CHARACTERS = 100;
/** What HTML reads of a colour in an attribute. */
const MAX_LEGACY_CHARACTERS = 128;
/** docs/mail.md, "Hidden text". */
const LEAST_CONTRAST = 1.5;

/** Colours of the system, as browsers have them where nobody chose others (CSS Color 4, section 10). */
const SYSTEM: Readonly<Record<string, string>> = {
  buttonface: "f0f0f0",
  buttontext: "000000",
  canvas: "ffffff",
  canvastext: "000000",
  field: "ffffff",
  fieldtext: "000000",
  graytext: "808080",
  linktext: "0000ee",
  window: "ffffff",
  windowtext: "000000",
};
const FUNCTIONS = /^(rgba?|hsla?|hwb|lab|lch|oklab|oklch)\(([^()]*)\)$/;

/**
 * A colour of CSS: a name, hex digits, rgb(), hsl(), hwb(), lab(), lch(), oklab(), oklch(),
 * `transparent`.
 * @param value trimmed and lowercased
 * @returns undefined for anything else
 */
export function readColor(value: string): Color | undefined {
  if (value.length > MAX_COLOR_CHARACTERS) return undefined;
  if (value === "transparent") return TRANSPARENT;
  const named = COLOR_NAMES.get(value) ??
    (Object.hasOwn(SYSTEM, value) ? SYSTEM[value] : undefined);
  if (named !== undefined) return readHex(named);
  if (value.startsWith("#")) return readHex(value.slice(1));
  const [, name, inside] = FUNCTIONS.exec(value) ?? [];
  if (name === undefined || inside === undefined) return undefined;
  const parts = inside.split(/[\s,/]+/).filter((part) => part !== "");
  if (parts.length !== 3 && parts.length !== 4) return undefined;
  const alpha = parts[3] === undefined ? 1 : portion(parts[3], 1);
  const [red, green, blue] = channelsOf(name, parts as [string, string, string]);
  const color = { red: red!, green: green!, blue: blue!, alpha };
  return Object.values(color).some(Number.isNaN) ? undefined : color;
}

function channelsOf(name: string, [first, second, third]: [string, string, string]): number[] {
  switch (name) {
    case "hsl":
    case "hsla":
      return fromHsl(degrees(first), portion(second, 100) / 100, portion(third, 100) / 100);
    case "hwb":
      return fromHwb(degrees(first), portion(second, 100) / 100, portion(third, 100) / 100);
    case "lab":
      return fromLab(portion(first, 100), axis(second, 125), axis(third, 125));
    case "lch":
      return fromLab(portion(first, 100), ...polar(axis(second, 150), degrees(third)));
    case "oklab":
      return fromOklab(portion(first, 1), axis(second, 0.4), axis(third, 0.4));
    case "oklch":
      return fromOklab(portion(first, 1), ...polar(axis(second, 0.4), degrees(third)));
    default:
      return [first, second, third].map((part) => portion(part, 255));
  }
}

/**
 * A colour as `bgcolor`, `color` and `text` attributes give it: whatever stands there is one (HTML,
 * section 2.4.6).
 * @returns undefined where it is empty, or `transparent`
 */
export function readAttributeColor(value: string): Color | undefined {
  const word = value.slice(0, 2 * MAX_COLOR_CHARACTERS).trim().toLowerCase();
  if (word === "" || word === "transparent") return undefined;
  const named = COLOR_NAMES.get(word);
  if (named !== undefined) return readHex(named);
  if (/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/.test(word)) return readHex(word.slice(1));
  const digits = [...word].map((char) => char.length > 1 ? "00" : char).join("")
    .slice(0, MAX_LEGACY_CHARACTERS).replace(/^#/, "").replaceAll(/[^0-9a-f]/g, "0");
  const third = Math.max(1, Math.ceil(digits.length / 3));
  const parts = [0, 1, 2].map((i) => digits.slice(i * third, (i + 1) * third).padEnd(third, "0"));
  const cut = parts.map((part) => part.slice(-8));
  const zeros = cut[0]!.length <= 2
    ? 0
    : Math.min(cut[0]!.length - 2, ...cut.map((part) => /^0*/.exec(part)![0].length));
  const [red, green, blue] = cut.map((part) => parseInt(part.slice(zeros, zeros + 2), 16));
  return { red: red!, green: green!, blue: blue!, alpha: 1 };
}

/** What is seen of a colour in front of an opaque one. */
export function seenOver(front: Color, behind: Color): Color {
  if (front.alpha === 1) return front;
  const mix = (a: number, b: number) => Math.round(a * front.alpha + b * (1 - front.alpha));
  return {
    red: mix(front.red, behind.red),
    green: mix(front.green, behind.green),
    blue: mix(front.blue, behind.blue),
    alpha: 1,
  };
}

/** Whether a text of one colour is hard to tell from an opaque background, or not at all. */
export function isInvisible(text: Color, background: Color): boolean {
  return contrastOf(seenOver(text, background), background) < LEAST_CONTRAST;
}

/** WCAG 2.2, contrast ratio: 1 to 21, of opaque colours. */
export function contrastOf(a: Color, b: Color): number {
  const [one, other] = [luminance(a), luminance(b)];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

/** Linear light of each value of a channel: texts are many, and powers are dear. */
const LIGHT = Float64Array.from({ length: 256 }, (_, value) => {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
});

function luminance({ red, green, blue }: Color): number {
  return 0.2126 * LIGHT[red]! + 0.7152 * LIGHT[green]! + 0.0722 * LIGHT[blue]!;
}

function readHex(digits: string): Color | undefined {
  if (!/^(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.test(digits)) return undefined;
  const long = digits.length < 6 ? digits.replaceAll(/./g, "$&$&") : digits;
  const [red, green, blue, alpha] = (long.match(/../g) ?? []).map((pair) => parseInt(pair, 16));
  return { red: red!, green: green!, blue: blue!, alpha: (alpha ?? 255) / 255 };
}

/** A number up to `whole`, or a percentage of it; NaN for anything else. */
function portion(text: string, whole: number): number {
  if (text === "none") return 0;
  const number = text.endsWith("%") ? Number(text.slice(0, -1)) / 100 * whole : Number(text);
  const within = Math.min(Math.max(number, 0), whole);
  return whole === 255 ? Math.round(within) : within;
}

function degrees(text: string): number {
  const [, number, unit] = /^([-+.\de]+?)(deg|grad|rad|turn)?$/.exec(text) ?? [];
  const turn = { deg: 360, grad: 400, rad: 2 * Math.PI, turn: 1 }[unit ?? "deg"]!;
  return Number(number) / turn * 360;
}

/** CSS Color 4, section 7.1. */
function fromHsl(hue: number, saturation: number, lightness: number): number[] {
  const span = saturation * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((n) => {
    const k = (((n + hue / 30) % 12) + 12) % 12;
    return Math.round(255 * (lightness - span * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  });
}

/** CSS Color 4, section 8.1. */
function fromHwb(hue: number, white: number, black: number): number[] {
  if (white + black >= 1) return new Array(3).fill(Math.round(255 * white / (white + black)));
  return fromHsl(hue, 1, 0.5).map((part) =>
    Math.round(255 * (part / 255 * (1 - white - black) + white))
  );
}

/** A number that may be negative, or a percentage of the given whole. */
function axis(text: string, whole: number): number {
  if (text === "none") return 0;
  return text.endsWith("%") ? Number(text.slice(0, -1)) / 100 * whole : Number(text);
}

function polar(chroma: number, hue: number): [number, number] {
  const angle = hue * Math.PI / 180;
  return [Math.max(0, chroma) * Math.cos(angle), Math.max(0, chroma) * Math.sin(angle)];
}

/** CSS Color 4, section 18: CIE Lab, D50, to sRGB. */
function fromLab(lightness: number, a: number, b: number): number[] {
  const [kappa, epsilon] = [24389 / 27, 216 / 24389];
  const fy = (lightness + 16) / 116;
  const cube = (f: number) => f ** 3 > epsilon ? f ** 3 : (116 * f - 16) / kappa;
  const x = cube(a / 500 + fy) * 0.3457 / 0.3585;
  const y = lightness > kappa * epsilon ? fy ** 3 : lightness / kappa;
  const z = cube(fy - b / 200) * (1 - 0.3457 - 0.3585) / 0.3585;
  // From D50 to D65 and to linear sRGB in one.
  return [
    3.1341359569 * x - 1.6173863321 * y - 0.4906619460 * z,
    -0.9787955481 * x + 1.9162543876 * y + 0.0334427312 * z,
    0.0719553894 * x - 0.2289768264 * y + 1.4053860351 * z,
  ].map(toChannel);
}

function fromOklab(lightness: number, a: number, b: number): number[] {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
  ].map(toChannel);
}

/** Linear light as a channel of sRGB. */
function toChannel(light: number): number {
  const share = light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.min(Math.max(share, 0), 1));
}
