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
  /** Of the text, from 0. */
  line: number;
  kind: QuoteKind | null;
}

const QUOTE_CLASS = /(?:^|\s)(?:gmail_quote|protonmail_quote|tutanota_quote)(?:\s|$)/;
const ATTRIBUTION_CLASS = /(?:^|\s)(?:gmail_attr|moz-cite-prefix)(?:\s|$)/;
const FORMER_IDS: ReadonlySet<string> = new Set([
  "divRplyFwdMsg",
  "OLK_SRC_BODY_SECTION",
  "mail-editor-reference-message-container",
  "ms-outlook-mobile-reference-message",
]);
/** The line that Outlook draws above the header of a former mail. */
const OUTLOOK_BORDER =
  /^border:none;\s?border-top:solid #?\w{3,20} 1\.0pt;\s?padding:3\.0pt 0(?:in|cm|mm|pt) 0(?:in|cm|mm|pt) 0(?:in|cm|mm|pt);?$/i;
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
  if (FORMER_IDS.has(attribute(tag, "id") ?? "")) return "former";
  const style = (attribute(tag, "style") ?? "").trim();
  return style.length <= MAX_STYLE_CHARACTERS && OUTLOOK_BORDER.test(style) ? "former" : null;
}

/** The same of texts that are joined: each begins a line. */
export function joinQuotedLines(
  parts: readonly { text: string; quotes: readonly QuotedLines[] }[],
): QuotedLines[] {
  const joined: QuotedLines[] = [];
  let line = 0;
  for (const { text, quotes } of parts) {
    if (joined.length > 0) joined.push({ line, kind: null });
    for (const quote of quotes) joined.push({ line: line + quote.line, kind: quote.kind });
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) line++;
    if (text !== "" && !text.endsWith("\n")) line++;
  }
  return joined;
}
