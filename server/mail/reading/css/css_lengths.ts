/** Lengths of CSS in pixels. Pure. */

/** How large a window is taken to be, in both directions: only what is far outside matters. */
const WINDOW_PX = 1_000;
/** Font size where none is given. */
export const MEDIUM_PX = 16;
const UNIT_PX: Readonly<Record<string, number>> = {
  "": 1,
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
  q: 96 / 101.6,
  rem: MEDIUM_PX,
  vw: WINDOW_PX / 100,
  vh: WINDOW_PX / 100,
  vmin: WINDOW_PX / 100,
  vmax: WINDOW_PX / 100,
};
const FONT_SIZES: Readonly<Record<string, number>> = {
  "xx-small": 9,
  "x-small": 10,
  small: 13,
  medium: MEDIUM_PX,
  large: 18,
  "x-large": 24,
  "xx-large": 32,
  "xxx-large": 48,
};

/**
 * A length; what has no unit is in pixels, as browsers read it in old pages.
 * @param value lowercased
 * @param fontPx what `em` is, in pixels
 * @param wholePx what 100% is, in pixels; percentages are no length without it
 * @returns undefined for what is none, calc() among it
 */
export function toPx(value: string, fontPx: number, wholePx?: number): number | undefined {
  const [, digits, unit] =
    /^([-+]?(?:\d{1,20}\.?\d{0,20}|\.\d{1,20})(?:e[-+]?\d{1,3})?)(%|[a-z]{0,4})$/.exec(value) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  const number = Number(digits);
  if (unit === "%") return wholePx === undefined ? undefined : number * wholePx / 100;
  if (unit === "em") return number * fontPx;
  if (unit === "ex" || unit === "ch") return number * fontPx / 2;
  return Object.hasOwn(UNIT_PX, unit) ? number * UNIT_PX[unit]! : undefined;
}

/** Height of a font: so many pixels, or a share of its parent's. */
export type FontSize = { px: number } | { ofParent: number };

/** A length, a share, or a word; undefined for what is none. */
export function readFontSize(value: string): FontSize | undefined {
  if (Object.hasOwn(FONT_SIZES, value)) return { px: FONT_SIZES[value]! };
  if (value === "smaller") return { ofParent: 1 / 1.2 };
  if (value === "larger") return { ofParent: 1.2 };
  if (value === "initial") return { px: MEDIUM_PX };
  const px = toPx(value, 1, 1);
  if (px === undefined || px < 0) return undefined;
  return /(?:%|em|ex|ch)$/.test(value) && !value.endsWith("rem") ? { ofParent: px } : { px };
}

/** The height in the shorthand `font`: the first that is a length, not a weight. */
export function readFontShorthand(value: string): FontSize | undefined {
  for (const word of value.split(" ")) {
    const size = word.split("/", 1)[0]!;
    if (/^[1-9]\d*$/.test(size)) continue;
    const found = readFontSize(size);
    if (found !== undefined) return found;
  }
  return undefined;
}
