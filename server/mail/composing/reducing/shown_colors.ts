/** Colours of a reduced HTML: text is always told from what stands behind it. Pure. */
import {
  BLACK,
  type Color,
  contrastOf,
  LINK_BLUE,
  seenOver,
  WHITE,
} from "../../reading/css/colors.ts";

/** What browsers colour a link in that somebody has followed. */
const FOLLOWED_LINK: Color = { red: 85, green: 26, blue: 139, alpha: 1 };
/** Colours that are nearer to each other (WCAG 2.2, contrast ratio) are not to be read. */
const LEAST_CONTRAST = 2;

/** Of an element, as a reader may see it: links have one of two colours. */
export interface ShownColors {
  text: readonly Color[];
  background: Color;
}

export const FIRST_COLORS: ShownColors = { text: [BLACK], background: WHITE };

export interface WantedColors {
  /** undefined: as around it. */
  text: Color | undefined;
  background: Color | undefined;
  /** Whether browsers give it the colour of links. */
  isLink: boolean;
  /** Whether it has to say its colour: old rendering of tables does not take over that around them. */
  saysText: boolean;
}

export interface ChosenColors {
  shown: ShownColors;
  /** Colours to be declared; null for none. */
  text: Color | null;
  background: Color | null;
  /** Whether the colour that was wanted could not be read. */
  isChanged: boolean;
}

/** The colours of an element in its parent. */
export function chooseColors(around: ShownColors, wanted: WantedColors): ChosenColors {
  const isPlain = wanted.text === undefined && wanted.background === undefined && !wanted.isLink &&
    !wanted.saysText;
  if (isPlain) return { shown: around, text: null, background: null, isChanged: false };
  const background = wanted.background === undefined
    ? around.background
    : seenOver(wanted.background, around.background);
  const declared = wanted.background === undefined || wanted.background.alpha === 0
    ? null
    : background;
  const given = wanted.text === undefined ? null : seenOver(wanted.text, background);
  const text = given !== null ? [given] : wanted.isLink ? [LINK_BLUE, FOLLOWED_LINK] : around.text;
  if (text.some((one) => contrastOf(one, background) < LEAST_CONTRAST)) {
    const legible = contrastOf(BLACK, background) >= contrastOf(WHITE, background) ? BLACK : WHITE;
    return {
      shown: { text: [legible], background },
      text: legible,
      background: declared,
      isChanged: given !== null,
    };
  }
  const isSaid = given === null && wanted.saysText && !isSame(text[0]!, BLACK);
  return {
    shown: { text: isSaid ? [text[0]!] : text, background },
    text: isSaid ? text[0]! : given,
    background: declared,
    isChanged: false,
  };
}

export function hexOf({ red, green, blue }: Color): string {
  const digits = [red, green, blue].map((part) => Math.round(part).toString(16).padStart(2, "0"));
  return `#${digits.join("")}`;
}

function isSame(a: Color, b: Color): boolean {
  return hexOf(a) === hexOf(b);
}
