/** Text of a reduced HTML, without characters that nobody sees. Pure; linear in its length. */
import { removeInvisible } from "../../reading/mime/invisible_characters.ts";

/** Most texts: nothing is to be done to them. */
const PLAIN = /^[\x20-\x7e\n]*$/;
const MARKS = /[&<>"]/;
/** Controls except tabs and line ends, and code points that are no characters. */
// deno-lint-ignore no-control-regex
const CONTROLS = /[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]/g;
/** Blanks at which no line breaks: so many in a row would move what follows out of sight. */
const MOST_BLANKS = 40;
const BLANK = "\\u00a0\\u115f\\u1160\\u2000-\\u200a\\u202f\\u205f\\u2800\\u3000\\u3164\\uffa0";
const UNBROKEN_GAP = new RegExp(`([${BLANK}]{${MOST_BLANKS}})[${BLANK}]+`, "g");
const PREFORMATTED_GAP = new RegExp(`([ \\t${BLANK}]{${MOST_BLANKS}})[ \\t${BLANK}]+`, "g");

const WITHOUT_WIDTH =
  "[\\u180e\\u200b-\\u200f\\u2060-\\u2064\\ufe00-\\ufe0f\\ufeff\\u{e0100}-\\u{e01ef}]";
const BEGINS_WITHOUT_WIDTH = new RegExp(`^${WITHOUT_WIDTH}+`, "u");
const ENDS_WITHOUT_WIDTH = new RegExp(`${WITHOUT_WIDTH}$`, "u");

export interface CleanText {
  /** Lines end in LF. */
  text: string;
  hadInvisible: boolean;
  hadWideGap: boolean;
}

export function cleanText(given: string, isPreformatted = false): CleanText {
  if (!isPreformatted && PLAIN.test(given)) {
    return { text: given, hadInvisible: false, hadWideGap: false };
  }
  const lines = given.replaceAll(/\r\n?|\f/g, "\n");
  const plain = lines.replaceAll(CONTROLS, "");
  const { text: seen, removed } = removeInvisible(plain);
  const text = seen.replaceAll(isPreformatted ? PREFORMATTED_GAP : UNBROKEN_GAP, "$1");
  return {
    text,
    hadInvisible: removed || plain.length !== lines.length,
    hadWideGap: text.length !== seen.length,
  };
}

/**
 * A text that follows another one, with an element between: what has no width at its beginning goes
 * where the other ended so, since both together are invisible.
 */
export function withoutLeading(text: string, before: string): string {
  return ENDS_WITHOUT_WIDTH.test(before) ? text.replace(BEGINS_WITHOUT_WIDTH, "") : text;
}

/** For a text, and for a value in double quotes. */
export function escapeHtml(text: string): string {
  if (!MARKS.test(text)) return text;
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
