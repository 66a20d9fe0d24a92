/** The links of a text that is no HTML. Pure; linear in its length. */
import { linkTarget, MAX_LINKS } from "../html/found_link.ts";
import type { FoundLink } from "../parsed/parsed_mail.ts";

const URLS =
  /(?<![\p{L}\p{N}])https?:\/\/[^\s<>"\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]{1,8192}/giu;
const SENTENCE_ENDS = ".,;:!?'*_~|\u2019\u201d\u00bb\u2026";
const CLOSING: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/**
 * At most 50 links in the order of the text, each once: http and https. What ends a sentence
 * or closes a bracket that was opened before the URL is no part of it.
 */
export function linksOfText(text: string): FoundLink[] {
  const urls = new Set<string>();
  for (const [candidate] of text.matchAll(URLS)) {
    const url = linkTarget(withoutEnd(candidate));
    if (url !== undefined) urls.add(url);
    if (urls.size === MAX_LINKS) break;
  }
  return [...urls].map((url) => ({ url, text: url }));
}

function withoutEnd(candidate: string): string {
  const open: Record<string, number> = { "(": 0, "[": 0, "{": 0 };
  let end = 0;
  for (; end < candidate.length; end++) {
    const char = candidate[end]!;
    if (Object.hasOwn(open, char)) open[char]!++;
    if (Object.hasOwn(CLOSING, char) && --open[CLOSING[char]!]! < 0) break;
  }
  let url = candidate.slice(0, end);
  while (SENTENCE_ENDS.includes(url.at(-1) ?? " ")) url = url.slice(0, -1);
  return url;
}
