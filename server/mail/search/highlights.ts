/** The words around what a search found (docs/mail.md, "Searching"). Pure. */
import type { Span } from "./term_matcher.ts";

export interface Highlights {
  subject: string[];
  text: string[];
}

/** For a message, subject and text together. */
export const MAX_FRAGMENTS = 3;
const FRAGMENT_CHARACTERS = 160;
const BEFORE_CHARACTERS = 50;

/** Fragments of plain text, of at most 160 characters each, the subject's first. */
export function highlightsOf(
  { subject, text }: { subject: string; text: string },
  found: { subject: readonly Span[]; text: readonly Span[] },
): Highlights {
  const ofSubject = fragmentsOf(subject, found.subject, 1);
  return {
    subject: ofSubject,
    text: fragmentsOf(text, found.text, MAX_FRAGMENTS - ofSubject.length),
  };
}

/** @param spans in their order; one that an earlier fragment shows needs none */
function fragmentsOf(text: string, spans: readonly Span[], most: number): string[] {
  const fragments: string[] = [];
  let shown = 0;
  for (const { start, end } of spans) {
    if (fragments.length === most) break;
    if (end <= shown) continue;
    const from = onCodePoint(text, Math.max(shown, start - BEFORE_CHARACTERS));
    shown = onCodePoint(text, from + FRAGMENT_CHARACTERS);
    fragments.push(text.slice(from, shown).replaceAll(/\s+/g, " ").trim());
  }
  return fragments;
}

/** The same place, or the one before where it would part a pair of surrogates. */
function onCodePoint(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text[at] ?? "") && /[\ud800-\udbff]/.test(text[at - 1] ?? "")
    ? at - 1
    : at;
}
