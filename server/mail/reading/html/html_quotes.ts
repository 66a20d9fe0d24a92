/** Which elements of HTML are a quote of a former mail, by the marks that mail programs give them. */
import type { Token } from "parse5";
import { attribute } from "./html_tokens.ts";

/**
 * - `quote`: somebody else's words, as a line that begins with `>` is;
 * - `blockquote`: an author's own one, unless a mail is introduced above it;
 * - `attribution`: what introduces a quote;
 * - `former`: from here on a former mail, its header first.
 */
export type QuoteKind = "quote" | "blockquote" | "attribution" | "former";

/** From a line on, until the next one says something else. */
export interface QuotedLines {
  /** Line of the text, from 0. */
  line: number;
  kind: QuoteKind | null;
}

const QUOTE_CLASS = /(?:^|\s)(?:gmail_quote|protonmail_quote|tutanota_quote)(?:\s|$)/;
const ATTRIBUTION_CLASS = /(?:^|\s)(?:gmail_attr|moz-cite-prefix)(?:\s|$)/;
/** Outlook's programs; the web's puts `x_` before names in its quotes. */
const FORMER_ID =
  /^(?:x_){0,9}(?:divRplyFwdMsg|OLK_SRC_BODY_SECTION|mail-editor-reference-message-container|ms-outlook-mobile-reference-message)$/i;
/** The line that Outlook draws above the header of a former mail, and three points of room. */
const FORMER_STYLE =
  /^border:none;border-top:solid #?\w{3,20} 1\.0pt;padding:3\.0pt 0(?:in|cm|mm|pt) 0(?:in|cm|mm|pt) 0(?:in|cm|mm|pt)$/;
/** Longer ones are not Outlook's. */
const MAX_STYLE_CHARACTERS = 200;

/** What the element of a start tag is; null where it is no quote. */
export function quoteKindOf(tag: Token.TagToken): QuoteKind | null {
  const { tagName: name, attrs } = tag;
  if (name === "blockquote") {
    const isCited = /^cite$/i.test(attribute(tag, "type") ?? "") ||
      QUOTE_CLASS.test(attribute(tag, "class") ?? "");
    return isCited ? "quote" : "blockquote";
  }
  if (attrs.length === 0 || (name !== "div" && name !== "span")) return null;
  if (ATTRIBUTION_CLASS.test(attribute(tag, "class") ?? "")) return "attribution";
  if (FORMER_ID.test(attribute(tag, "id") ?? "")) return "former";
  const given = attribute(tag, "style") ?? "";
  if (given.length > MAX_STYLE_CHARACTERS) return null;
  const style = given.toLowerCase().replaceAll(/\s+/g, " ").replaceAll(/ ?([:;]) ?/g, "$1").trim();
  return FORMER_STYLE.test(style.replace(/;$/, "")) ? "former" : null;
}
