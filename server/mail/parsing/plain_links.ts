/** The links of a text that is no HTML. Pure; linear in its length. */
import type { FoundLink } from "./parsed_mail.ts";

/** Most links that are told of a message. */
export const MAX_LINKS = 50;
/** Longer URLs are no link. */
export const MAX_URL_CHARACTERS = 4_096;

export function linksOfText(text: string): FoundLink[] {
  const links: FoundLink[] = [];
  for (const [url] of text.matchAll(/https?:\/\/[^\s<>"]+/gi)) {
    if (links.length === MAX_LINKS) break;
    if (URL.canParse(url)) links.push({ url, text: url });
  }
  return links;
}
