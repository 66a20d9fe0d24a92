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

/**
 * A colour of CSS: a name, hex digits, rgb(), rgba(), hsl(), hsla(), `transparent`.
 * @param value trimmed and lowercased
 * @returns undefined for anything else
 */
export function readColor(value: string): Color | undefined {
  if (value.length > MAX_COLOR_CHARACTERS) return undefined;
  if (value === "transparent") return TRANSPARENT;
  const named = COLOR_NAMES.get(value);
  if (named !== undefined) return readHex(named);
  if (value.startsWith("#")) return readHex(value.slice(1));
  const [, name, inside] = /^(rgb|hsl)a?\(([^()]*)\)$/.exec(value) ?? [];
  if (inside === undefined) return undefined;
  const parts = inside.split(/[\s,/]+/).filter((part) => part !== "");
  if (parts.length !== 3 && parts.length !== 4) return undefined;
  const alpha = parts[3] === undefined ? 1 : portion(parts[3], 1);
  const [first, second, third] = name === "rgb"
    ? parts.slice(0, 3).map((part) => portion(part, 255))
    : fromHsl(degrees(parts[0]!), portion(parts[1]!, 100) / 100, portion(parts[2]!, 100) / 100);
  const color = { red: first!, green: second!, blue: third!, alpha };
  return Object.values(color).some(Number.isNaN) ? undefined : color;
}

/** A colour as `bgcolor` and `color` attributes give it: also hex digits without `#`. */
export function readAttributeColor(value: string): Color | undefined {
  const word = value.slice(0, MAX_COLOR_CHARACTERS).trim().toLowerCase();
  return readColor(word) ??
    (/^(?:[0-9a-f]{3}|[0-9a-f]{6})$/.test(word) ? readHex(word) : undefined);
}

/** What is seen of a colour in front of an opaque one. */
export function seenOver(front: Color, behind: Color): Color {
  const mix = (a: number, b: number) => Math.round(a * front.alpha + b * (1 - front.alpha));
  return {
    red: mix(front.red, behind.red),
    green: mix(front.green, behind.green),
    blue: mix(front.blue, behind.blue),
    alpha: 1,
  };
}

/** Whether a text of one colour cannot be told from an opaque background. */
export function isInvisible(text: Color, background: Color): boolean {
  const seen = seenOver(text, background);
  return seen.red === background.red && seen.green === background.green &&
    seen.blue === background.blue;
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
