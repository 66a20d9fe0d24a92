/** The bodies of a message as texts: what mail programs show, and its plain text. Pure; linear. */
import {
  doAlternativesDiffer,
  MAX_ALL_COMPARED_CHARACTERS,
  MAX_COMPARED_CHARACTERS,
} from "./text/alternatives.ts";
import { MAX_LINKS } from "./html/found_link.ts";
import { type HtmlText, readHtmlWithin } from "./html/html_text.ts";
import type { QuotedLines } from "./html/html_quotes.ts";
import { removeInvisible } from "./mime/invisible_characters.ts";
import type { FoundLink, ParsedFacts, ParseWarning } from "./parsed/parsed_mail.ts";
import { cutText, joinTexts, type PartTexts } from "./mime/part_texts.ts";
import { linksOfText } from "./text/plain_links.ts";
import type { ShownParts } from "./mime/shown_parts.ts";
import type { Sliced } from "../../base/slices/sliced.ts";
import { StepBudget } from "../../base/slices/step_budget.ts";
import type { MailPart } from "./mime/walk_parts.ts";

export interface BodyTexts {
  /** What is shown, the HTML of alternatives; null where there is no body. */
  shown: string | null;
  /** The plain text of alternatives; null where there is no body. */
  text: string | null;
  textSource: ParsedFacts["textSource"];
  /** Links that are shown. */
  links: FoundLink[];
  /** Which lines of `shown` its HTML marks as quoted, in order. */
  quotes: QuotedLines[];
  hiddenRemoved: boolean;
}

/**
 * Converts the HTML parts and puts the texts together.
 * @param texts of the parts, decoded
 * @param warnings gets `too_complex`, `styles_not_judged`, `alternatives_differ`, `text_cut`
 */
export function* readBodyTexts(
  { shown, plain, alternatives }: ShownParts,
  texts: { plain: PartTexts; html: PartTexts },
  warnings: Set<ParseWarning>,
): Sliced<BodyTexts> {
  // One budget for all: a message of many small parts takes no longer than one of a large part.
  const length = [...texts.html.values()].reduce((sum, html) => sum + html.length, 0);
  const steps = StepBudget.of({ length });
  let hiddenRemoved = false;
  const clean = (text: string) => {
    const visible = removeInvisible(text);
    hiddenRemoved ||= visible.removed;
    return visible.text;
  };

  const converted = new Map<MailPart, HtmlText>();
  for (const [part, html] of texts.html) {
    const found = yield* readHtmlWithin(html, steps);
    converted.set(part, found);
    hiddenRemoved ||= found.hiddenRemoved;
    if (found.isTooComplex) warnings.add("too_complex");
    if (found.isNotJudged) warnings.add("styles_not_judged");
  }
  const cleaned = new Map<MailPart, string>();
  for (const [part, text] of texts.plain) cleaned.set(part, clean(text));
  const textOf = (part: MailPart) => converted.get(part)?.text ?? cleaned.get(part) ?? "";
  const whole = (parts: readonly MailPart[]) => joinTexts(parts.map(textOf));
  const finish = (parts: readonly MailPart[]) => cutText(clean(whole(parts)), warnings);

  /** Their beginning, the part that is compared. */
  const beginning = (parts: readonly MailPart[]) => {
    let text = "";
    for (const part of parts) {
      text = joinTexts([text, textOf(part)]);
      if (text.length >= MAX_COMPARED_CHARACTERS) break;
    }
    return text.slice(0, MAX_COMPARED_CHARACTERS);
  };
  let compared = 0;
  for (const { shown: chosen, others } of alternatives) {
    for (const other of others) {
      const said = beginning(other);
      // White space alone says nothing else.
      if (warnings.has("alternatives_differ") || said.trim() === "") continue;
      const seen = beginning(chosen);
      compared += said.length + seen.length;
      const differs = compared > MAX_ALL_COMPARED_CHARACTERS ||
        (yield* doAlternativesDiffer(seen, said));
      if (differs) warnings.add("alternatives_differ");
    }
  }
  if (shown.length === 0) {
    return { shown: null, text: null, textSource: "none", links: [], quotes: [], hiddenRemoved };
  }
  const shownText = finish(shown);
  // A plain text of white space alone says nothing: the HTML in its place does. Inner ones come first.
  const replaced = new Map<MailPart, readonly MailPart[]>();
  for (const { shown: chosen, plain: [first, ...rest] } of alternatives) {
    if (first === undefined || whole([first, ...rest]).trim() !== "") continue;
    for (const part of rest) replaced.set(part, []);
    replaced.set(first, chosen);
  }
  const ofPlain = plain.flatMap((part) => replaced.get(part) ?? [part]);
  return {
    shown: shownText,
    text: isSame(ofPlain, shown) ? shownText : finish(ofPlain),
    textSource: sourceOf(ofPlain.filter((part) => textOf(part).trim() !== ""), ofPlain),
    links: linksOf(
      shown.flatMap((part) => converted.get(part)?.links ?? linksOfText(textOf(part))),
    ),
    quotes: joinQuotedLines(
      shown.map((part) => ({ text: textOf(part), quotes: converted.get(part)?.quotes ?? [] })),
    ),
    hiddenRemoved,
  };
}

/** What HTML marks in texts that joinTexts() joins: each begins a line. */
function joinQuotedLines(
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

function isSame(a: readonly MailPart[], b: readonly MailPart[]): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}

/** @param all decides where nothing but white space is in them */
function sourceOf(
  parts: readonly MailPart[],
  all: readonly MailPart[],
): ParsedFacts["textSource"] {
  const types = new Set((parts.length === 0 ? all : parts).map(({ contentType }) => contentType));
  if (types.size > 1) return "mixed";
  return types.has("text/html") ? "html" : "plain";
}

/** Each once, in order. */
function linksOf(all: readonly FoundLink[]): FoundLink[] {
  const links = new Map<string, FoundLink>();
  for (const link of all) {
    const key = `${link.url} ${link.text}`;
    if (links.size < MAX_LINKS && !links.has(key)) links.set(key, link);
  }
  return [...links.values()];
}
