/** What of an HTML mail programs mark as a former mail that is quoted. Pure. */
import { removeInvisible } from "./invisible_characters.ts";

/**
 * `cite` and `gmail` end with their element. `outlook` is the block of From, Sent, To that Outlook puts
 * above a former mail, with all that follows: an answer to it, or what is forwarded.
 */
export type QuoteKind = "cite" | "gmail" | "outlook";

/** UTF-16 units of a text, from `start` to before `end`. */
export interface QuotedRange {
  start: number;
  end: number;
  kind: QuoteKind;
}

const CLASSES =
  /(?:^|\s)(?:gmail_quote|gmail_quote_container|yahoo_quoted|protonmail_quote)(?:\s|$)/;
/** Outlook's own, and what its text editor writes: a line above, and three points of room. */
const OUTLOOK_IDS = /^(?:x_)*divrplyfwdmsg$/i;
const OUTLOOK_STYLE =
  /^border:none;border-top:solid #(?:e1e1e1|b5c4df) 1\.0pt;padding:3\.0pt (?:0in 0in 0in|0cm 0cm 0cm)$/;
const MAX_STYLE_CHARACTERS = 200;

/** @returns null for an element that is no quote */
export function quoteKindOf(
  name: string,
  attribute: (name: string) => string | undefined,
): QuoteKind | null {
  if (name === "blockquote" && attribute("type")?.toLowerCase() === "cite") return "cite";
  if (name !== "div" && name !== "blockquote") return null;
  if (CLASSES.test((attribute("class") ?? "").slice(0, MAX_STYLE_CHARACTERS))) return "gmail";
  if (OUTLOOK_IDS.test((attribute("id") ?? "").slice(0, MAX_STYLE_CHARACTERS))) return "outlook";
  const style = (attribute("style") ?? "").slice(0, MAX_STYLE_CHARACTERS).toLowerCase()
    .replaceAll(/\s+/g, " ").replaceAll(/\s?([:;])\s?/g, "$1").replace(/;$/, "").trim();
  return OUTLOOK_STYLE.test(style) ? "outlook" : null;
}

/** Ranges of a text, by their places in what removeInvisible() leaves of it. */
export function withoutInvisible(text: string, ranges: readonly QuotedRange[]): QuotedRange[] {
  let [read, kept] = [0, 0];
  const placeOf = (offset: number) => {
    kept += removeInvisible(text.slice(read, offset)).text.length;
    read = Math.max(read, offset);
    return kept;
  };
  return ranges.map(({ start, end, kind }) => ({ start: placeOf(start), end: placeOf(end), kind }));
}
