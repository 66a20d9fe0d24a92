/** Whether what a mail says twice is the same. Pure; linear in the texts' lengths. */
import { findCodes } from "./codes.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";

/** What is compared of a text, in UTF-16 units: different words that one is full of come early. */
export const MAX_COMPARED_CHARACTERS = 512 * 1024;
/** The same of all alternatives together, which may stand in each other. */
export const MAX_ALL_COMPARED_CHARACTERS = 8 * MAX_COMPARED_CHARACTERS;
/** Words that only one has, in proportion to the words of the shorter one (docs/mail.md). */
const MAX_DIFFERENT_SHARE = 1 / 3;
const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
const URLS = /\bhttps?:\/\/[^\s<>"\]]{1,4096}/giu;
/** Words between two questions whether others should run. */
const WORDS_AT_ONCE = 4_096;

/**
 * Whether the text that is shown and another one in its place have other words or other codes.
 * Addresses of links do not count: the plain text of a mail rarely has the same.
 */
export function* doAlternativesDiffer(shown: string, other: string): Sliced<boolean> {
  const [a, b] = [shown, other].map((text) => text.slice(0, MAX_COMPARED_CHARACTERS));
  const values = (text: string) => findCodes(null, text).map(({ value }) => value).sort().join(" ");
  if (values(a!) !== values(b!)) return true;
  const shownWords = yield* wordsOf(a!);
  const otherWords = yield* wordsOf(b!);
  const common = shownWords.intersection(otherWords).size;
  const different = shownWords.size + otherWords.size - 2 * common;
  return different > MAX_DIFFERENT_SHARE * Math.min(shownWords.size, otherWords.size);
}

function* wordsOf(text: string): Sliced<Set<string>> {
  const words = new Set<string>();
  let count = 0;
  const plain = text.replaceAll(URLS, " ").normalize("NFKC").toLowerCase();
  for (const [word] of plain.matchAll(WORDS)) {
    words.add(word);
    if (++count % WORDS_AT_ONCE === 0) yield null;
  }
  return words;
}
