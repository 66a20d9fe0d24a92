/** The links that are seen while an HTML message is read. */
import { linkText, MAX_LINKS } from "./found_link.ts";
import { removeInvisible } from "../mime/invisible_characters.ts";
import type { FoundLink } from "../parsed/parsed_mail.ts";

export interface LinkCollector {
  open(url: string): void;
  isOpen(): boolean;
  /** Text and pictures that are seen; outside of links they are ignored. */
  text(chars: string): void;
  picture(): void;
  /**
   * Ends the link.
   * @returns its URL where a reader of the text has to be told it: whether below words or alone;
   *   null for an invisible one, and where its text is its URL
   */
  close(): { url: string; hasWords: boolean } | null;
  found: FoundLink[];
}

/** What is kept of the words of a link. */
const MAX_KEPT_CHARACTERS = 2_000;

export function linkCollector(): LinkCollector {
  const found: FoundLink[] = [];
  const known = new Set<string>();
  let link: { url: string; words: string; hasPicture: boolean } | null = null;
  return {
    found,
    open(url) {
      link = { url, words: "", hasPicture: false };
    },
    isOpen: () => link !== null,
    text(chars) {
      if (link !== null && link.words.length < MAX_KEPT_CHARACTERS) {
        link.words += chars.slice(0, MAX_KEPT_CHARACTERS);
      }
    },
    picture() {
      if (link !== null) link.hasPicture = true;
    },
    close() {
      if (link === null) return null;
      const { url, words, hasPicture } = link;
      link = null;
      const text = linkText(removeInvisible(words).text);
      if (text === "" && !hasPicture) return null;
      const key = `${url} ${text}`;
      if (found.length < MAX_LINKS && !known.has(key)) {
        known.add(key);
        found.push({ url, text });
      }
      return text === url ? null : { url, hasWords: text !== "" };
    },
  };
}
