/** What somebody sees of an HTML message, as text. Pure; linear in its length. */
import type { Token } from "parse5";
import { readRules } from "./css_rules.ts";
import { elementLayout } from "./element_layout.ts";
import { linkTarget } from "./found_link.ts";
import {
  FIRST_LOOK,
  type Look,
  lookIn,
  type OwnLook,
  ownLook,
  PREFORMATTED,
} from "./hidden_rule.ts";
import { attribute, readTokens, styleSheetsOf } from "./html_tokens.ts";
import { removeInvisible } from "./invisible_characters.ts";
import { linkCollector } from "./link_collector.ts";
import { type OpenElement, openElements } from "./open_elements.ts";
import type { FoundLink } from "./parsed_mail.ts";
import { type Sliced, toEnd } from "./sliced.ts";
import { Steps } from "./steps.ts";
import { textLayout } from "./text_layout.ts";

export interface HtmlText {
  /** Lines end in LF; nothing invisible is left in it. */
  text: string;
  /** Visible links, http and https, in order, at most 50. */
  links: FoundLink[];
  /** Whether letters that nobody sees, or invisible characters, were removed. */
  hiddenRemoved: boolean;
  /** Whether its steps were spent: style sheets were not judged to its end, only inline styles were. */
  isTooComplex: boolean;
  /** What reading it took, counted; in proportion to its length whatever it holds. */
  steps: number;
}

/** Told of a document as it is read: of what stands in it, and of how it looks. */
export interface HtmlWatcher {
  /**
   * An element begins. What wrong nesting has begin again is not told.
   * @returns what end() is given when it ends; null where that is not to be told
   */
  start(tag: WatchedTag, look: Look): unknown;
  /** Elements end in any order: formatting may end before what stands in it. */
  end(started: unknown): void;
  /** One without content, `br` and pictures among them. */
  single(tag: WatchedTag, look: Look): void;
  /** @param isHidden whether nobody sees it */
  text(chars: string, isHidden: boolean): void;
  /** An element whose content is no text, or that stands in the head. */
  skipped(name: string): void;
  comment(): void;
}

export type WatchedTag = Pick<Token.TagToken, "tagName" | "attrs">;

interface Content {
  look: Look;
  /** Null where its look is its parent's. */
  own: OwnLook | null;
  display: string | undefined;
  isLink: boolean;
  /** What the watcher made of it; null for none. */
  watched: unknown;
}

/** What text may be longer than its HTML by: numbers, bullets, indentation. */
const LAYOUT_CHARACTERS = 64 * 1024;
/** Deeper ones cost memory; end tags are not read any more then. */
const MAX_OPEN_ELEMENTS = 300_000;
const names = (text: string): ReadonlySet<string> => new Set(text.split(" "));
/** Never text, whatever their style. */
const NEVER_TEXT = names("iframe noembed noframes script style template title");
/** What may stand in a head; everything else ends one that was left open. */
const IN_HEAD = names(
  "base basefont bgsound head html link meta noscript script style template title",
);
const VOID = names(
  "area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr",
);
/** Formatting that lingers goes on in their text, not around them. */
const HOLDS_OTHERS = names("td th tr table tbody thead tfoot p div");
/** Letters, but for the Korean ones that fill a place without being seen. */
const LETTERS = /[^\P{L}\u115f\u1160\u3164\uffa0]/u;

/** Reads an HTML part at once: readHtmlText() to its end. */
export function htmlToText(html: string): HtmlText {
  return toEnd(readHtmlText(html));
}

/**
 * Reads an HTML part: its text with links as `text [url]` and pictures as their alt, without what a
 * person does not see. What hides text is in hidden_rule.ts; css_rules.ts says how far style sheets
 * are read. What noscript holds is text: mail runs no scripts.
 */
export function* readHtmlText(html: string, watcher?: HtmlWatcher): Sliced<HtmlText> {
  const steps = Steps.of(html);
  const rules = yield* readRules(yield* styleSheetsOf(html, steps), steps);
  const layout = textLayout(html.length + LAYOUT_CHARACTERS);
  const arrange = elementLayout(layout);
  const links = linkCollector();
  let hiddenRemoved = false;
  let isInHead = false;
  let skipped = "";
  let skippedDepth = 0;
  let isAfterPre = false;
  let isTooDeep = false;
  /** Set where something hides text in what is too deep: nobody knows where it would end. */
  let isHiddenToTheEnd = false;

  const elements = openElements<Content>(({ name, content }) => {
    if (content.isLink) endLink();
    if (content.watched !== null) watcher!.end(content.watched);
    if (!content.look.gone) arrange.end(name, content.display);
  }, ({ content }) => content.own === null ? "no" : content.look.hidesText ? "first" : "yes");
  const currentLook = () => elements.top()?.content.look ?? FIRST_LOOK;

  function* contentOf(tag: Token.TagToken, parent: Look): Sliced<Content> {
    const { tagName: name, attrs } = tag;
    if (attrs.length === 0 && rules.isEmpty && !PREFORMATTED.has(name)) {
      return { look: parent, own: null, display: undefined, isLink: false, watched: null };
    }
    const declared = yield* rules.declared({
      name,
      id: attribute(tag, "id") ?? "",
      classes: attribute(tag, "class") ?? "",
      style: attribute(tag, "style") ?? "",
    });
    const own = ownLook({
      name,
      isLink: name === "a" && attribute(tag, "href") !== undefined,
      hidden: attribute(tag, "hidden") !== undefined,
      bgcolor: attribute(tag, "bgcolor"),
      color: attribute(tag, name === "body" ? "text" : "color"),
      picture: attribute(tag, "background"),
      width: attribute(tag, "width"),
      height: attribute(tag, "height"),
    }, declared);
    const look = lookIn(parent, own);
    return { look, own, display: declared.get("display")?.value, isLink: false, watched: null };
  }

  function open(element: OpenElement<Content>): void {
    if (elements.depth() >= MAX_OPEN_ELEMENTS) isTooDeep = true;
    if (!isTooDeep) elements.push(element);
    else if (element.content.look.hidesText) isHiddenToTheEnd = true;
  }

  /** Formatting that wrong nesting ended goes on in the next text (HTML, section 13.2.4.3). */
  function reopenFormatting(): void {
    for (const { name, content } of elements.takeLingering()) {
      steps.count(1);
      open({
        name,
        content: {
          ...content,
          look: lookIn(currentLook(), content.own),
          isLink: false,
          watched: null,
        },
      });
    }
  }

  function endLink(): void {
    const ended = links.close();
    if (ended === null) return;
    if (ended.hasWords) layout.suffix(`[${ended.url}]`);
    else layout.text(`[${ended.url}]`);
  }

  function show(chars: string, isHidden: boolean, preformatted = false): void {
    if (isHidden || isHiddenToTheEnd) {
      hiddenRemoved ||= LETTERS.test(chars);
      return;
    }
    const seen = chars.includes("\u00ad") ? chars.replaceAll("\u00ad", "") : chars;
    if (preformatted) layout.preformatted(seen);
    else layout.text(seen);
    links.text(seen);
  }

  function* startElement(tag: Token.TagToken): Sliced<void> {
    const name = tag.tagName;
    if (elements.ignores(name)) return;
    if (!isTooDeep) elements.makeRoomFor(name);
    if (!HOLDS_OTHERS.has(name)) reopenFormatting();
    const content = yield* contentOf(tag, currentLook());
    if (!content.look.gone) {
      arrange.begin(name, content.display, attribute(tag, name === "li" ? "value" : "start"));
    }
    const isForeign = tag.selfClosing && (elements.has("svg") || elements.has("math"));
    if (VOID.has(name) || isForeign) {
      watcher?.single(tag, content.look);
      if (name === "img" || name === "image") showPicture(tag, content.look);
      return;
    }
    const url = name === "a" ? linkTarget(attribute(tag, "href") ?? "") : undefined;
    if (url !== undefined) links.open(url);
    isAfterPre = name === "pre" || name === "listing" || name === "textarea";
    const watched = watcher?.start(tag, content.look) ?? null;
    open({ name, content: { ...content, isLink: url !== undefined, watched } });
  }

  function showPicture(tag: Token.TagToken, { hidesPictures }: Look): void {
    show(attribute(tag, "alt") ?? "", hidesPictures);
    if (!hidesPictures && !isHiddenToTheEnd) links.picture();
  }

  function* startTag(tag: Token.TagToken): Sliced<void> {
    const name = tag.tagName;
    isAfterPre = false;
    if (skipped !== "") {
      if (name === skipped) skippedDepth++;
    } else if (NEVER_TEXT.has(name)) {
      skipped = name;
      skippedDepth = 1;
      watcher?.skipped(name);
    } else if (name === "head") {
      isInHead = !elements.has("body");
    } else {
      if (isInHead && !IN_HEAD.has(name)) isInHead = false;
      if (isInHead) watcher?.skipped(name);
      else yield* startElement(tag);
    }
  }

  function endTag(name: string): void {
    isAfterPre = false;
    if (skipped !== "") {
      if (name === skipped && --skippedDepth === 0) skipped = "";
    } else if (isInHead) {
      if (/^(?:head|body|html|br)$/.test(name)) isInHead = false;
    } else if (name === "br") layout.lineBreak();
    else if (!isTooDeep) elements.close(name);
  }

  function readText(text: string): void {
    if (skipped !== "" || isInHead) return;
    const chars = isAfterPre ? text.replace(/^\n/, "") : text;
    isAfterPre = false;
    if (!/^\s*$/.test(chars)) reopenFormatting();
    const look = currentLook();
    watcher?.text(chars, look.hidesText || isHiddenToTheEnd);
    show(chars, look.hidesText, look.preformatted);
  }

  for (const token of readTokens(html, steps)) {
    if (token === null) yield null;
    else if (token.type === "start") yield* startTag(token.tag);
    else if (token.type === "end") endTag(token.name);
    else if (token.type === "text") readText(token.text);
    else if (token.type === "comment") watcher?.comment();
    else if (token.isStandard && elements.depth() === 0) elements.nestAsStandard();
  }
  elements.closeAll();
  const { text, removed } = removeInvisible(layout.result());
  return {
    text: text.trimEnd(),
    links: links.found,
    hiddenRemoved: hiddenRemoved || removed,
    isTooComplex: steps.areSpent,
    steps: steps.done,
  };
}
