// Over 300 lines: what a tag and a text do to all that is kept of a document is one thing.
/** What somebody sees of an HTML message, as text. Pure; linear in its length. */
import type { Token } from "parse5";
import { readRules } from "./css_rules.ts";
import { hasWords, LETTERS } from "./conditional_comment.ts";
import { elementLayout } from "./element_layout.ts";
import { linkTarget } from "./found_link.ts";
import {
  FIRST_LOOK,
  type Look,
  lookIn,
  type OwnLook,
  ownLook,
  PREFORMATTED,
} from "../css/hidden_rule.ts";
import { childNode, documentNode, type StyledNode } from "../css/css_selectors.ts";
import { attribute, readTokens, styleSheetsOf } from "./html_tokens.ts";
import { type QuotedLines, type QuoteKind, quoteKindOf } from "./html_quotes.ts";
import { removeInvisible } from "../mime/invisible_characters.ts";
import { linkCollector } from "./link_collector.ts";
import { type OpenElement, openElements } from "./open_elements.ts";
import type { FoundLink } from "../parsed/parsed_mail.ts";
import { type Sliced, toEnd } from "../../../base/slices/sliced.ts";
import { StepBudget } from "../../../base/slices/step_budget.ts";
import { textLayout } from "./text_layout.ts";

export interface HtmlText {
  /** Lines end in LF; nothing invisible is left in it. */
  text: string;
  /** Visible links, http and https, in order, at most 50. */
  links: FoundLink[];
  /** Which lines of the text quote a former mail, in order. */
  quotes: QuotedLines[];
  /** Whether letters that nobody sees, or invisible characters, were removed. */
  hiddenRemoved: boolean;
  /** Whether its steps were spent: style sheets were not judged to its end, only inline styles were. */
  isTooComplex: boolean;
  /** Whether something that cannot be judged may hide some of it, or show what was left out. */
  isNotJudged: boolean;
  /** What reading it took, counted; in proportion to its length whatever it holds. */
  steps: number;
}

/** Called while a document is read: with its content, and how it looks. */
export interface HtmlWatcher {
  /**
   * An element begins. Elements that wrong nesting opens again are not reported.
   * @returns passed to end() when it ends; null for no call
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
  /** Null where no style sheet looks at it. */
  node: StyledNode | null;
  /** Whether it is details whose summary alone is seen. */
  isFolded: boolean;
  /** Whether a summary stood in it: another one is folded too. */
  hasSummary?: boolean;
  quote: QuoteKind | null;
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
const CODE = names("script style");
const BLANK = /^\s*$/;
/** Elements whose content never shows, but which somebody else, such as a model, may read as text. */
const UNSEEN_TEXT = names("iframe noembed noframes template");
/** Parts of an SVG picture that describe it, or draw nothing by themselves. */
const UNDRAWN = names("clippath defs desc lineargradient marker mask metadata pattern symbol");
/** What of their text is seen depends on more than is judged here: a choice of many, a drawing. */
const PARTLY_SEEN = names("select svg");
/** Elements whose look depends on more than styles. */
const LOOKED_AT = names(
  "annotation annotation-xml audio canvas datalist details dialog meter mphantom progress rp video",
);

type Tag = Pick<Token.TagToken, "tagName" | "attrs">;
const UNSEEN = { gone: true, hidesText: true, hidesPictures: true };
/** Attributes of html and body that change how they look. */
const LOOKS = names("background bgcolor class hidden id style text");
/** Elements whose attributes say how their text is coloured. */
const COLORED = names("basefont body font");

/** Reads an HTML part at once: readHtmlText() to its end. */
export function htmlToText(html: string): HtmlText {
  return toEnd(readHtmlText(html));
}

/**
 * Reads an HTML part: its text with links as `text [url]` and pictures as their alt, without what a
 * person does not see. What hides text is in hidden_rule.ts; css_rules.ts says how far style sheets
 * are read. What noscript holds is text: mail runs no scripts.
 */
export function readHtmlText(html: string, watcher?: HtmlWatcher): Sliced<HtmlText> {
  return readHtmlWithin(html, StepBudget.of(html), watcher);
}

/** As readHtmlText(), with a budget that it shares with others. */
export function* readHtmlWithin(
  html: string,
  steps: StepBudget,
  watcher?: HtmlWatcher,
): Sliced<HtmlText> {
  const rules = yield* readRules(yield* styleSheetsOf(html, steps), steps);
  const layout = textLayout(html.length + LAYOUT_CHARACTERS);
  const arrange = elementLayout(layout);
  const links = linkCollector();
  let hiddenRemoved = false;
  let isInHead = false;
  let skipped = "";
  let skippedDepth = 0;
  /** Whether a script or a style sheet stands in what is skipped. */
  let isInCode = false;
  let isAfterPre = false;
  let isTooDeep = false;
  /** Set where something too deep hides text: it is unknown where that would end. */
  let isHiddenToTheEnd = false;
  let isNotJudged = false;
  let hasBody = false;
  const documentTop = documentNode();
  /** What the first html and body tags say. */
  const rootAttributes = new Map<string, ReadonlySet<string>>();

  const elements = openElements<Content>(({ name, content }) => {
    if (content.isLink) endLink();
    if (content.watched !== null) watcher!.end(content.watched);
    if (content.quote !== null) layout.markQuote(content.quote, -1);
    if (!content.look.gone) arrange.end(name, content.display);
  }, ({ content }) => content.own === null ? "no" : content.look.hidesText ? "first" : "yes");
  const currentLook = () => elements.top()?.content.look ?? FIRST_LOOK;

  function nodeOf(tag: Tag): StyledNode | null {
    if (!rules.needsNodes) return null;
    const parent = elements.top()?.content.node ?? documentTop;
    return childNode(parent, tag, rules.looksAtSiblings);
  }

  function* contentOf(tag: Tag): Sliced<Content> {
    const { tagName: name, attrs } = tag;
    const around = elements.top()?.content;
    const parent = around?.look ?? FIRST_LOOK;
    const node = nodeOf(tag);
    const isFolded = name === "details" && attribute(tag, "open") === undefined;
    const isUnfolded = around?.isFolded === true &&
      (name !== "summary" || around.hasSummary === true);
    if (around !== undefined && name === "summary") around.hasSummary = true;
    if (
      attrs.length === 0 && rules.isEmpty && !PREFORMATTED.has(name) && !LOOKED_AT.has(name) &&
      !isUnfolded
    ) {
      return {
        look: parent,
        own: null,
        display: undefined,
        isLink: false,
        node,
        isFolded,
        quote: null,
        watched: null,
      };
    }
    const { declarations, hasGenerated, isNotJudged } = yield* rules.declared({
      name,
      id: attribute(tag, "id") ?? "",
      classes: attribute(tag, "class") ?? "",
      style: attribute(tag, "style") ?? "",
      node,
    });
    const own = ownLook({
      name,
      isLink: name === "a" && attribute(tag, "href") !== undefined,
      hidden: attribute(tag, "hidden") !== undefined || attribute(tag, "popover") !== undefined ||
        (name === "dialog" && attribute(tag, "open") === undefined),
      bgcolor: attribute(tag, "bgcolor"),
      color: COLORED.has(name) ? attribute(tag, name === "body" ? "text" : "color") : undefined,
      picture: attribute(tag, "background"),
      width: attribute(tag, "width"),
      height: attribute(tag, "height"),
    }, declarations);
    let look = lookIn(parent, own);
    if (isNotJudged) look = { ...look, isNotJudged };
    if (isUnfolded) look = { ...look, ...UNSEEN };
    if (hasGenerated && !look.gone) hiddenRemoved = true;
    return {
      look,
      own,
      display: declarations.get("display")?.value,
      isLink: false,
      node,
      isFolded,
      quote: null,
      watched: null,
    };
  }

  function* makeRoot(before: "html" | "body"): Sliced<void> {
    if (before === "body" && !elements.has("html")) yield* makeElement("html");
  }

  function* makeElement(tagName: string): Sliced<void> {
    open({ name: tagName, content: yield* contentOf({ tagName, attrs: [] }) });
  }

  /** Browsers make what is missing of html and body. */
  function* makeBody(): Sliced<void> {
    yield* makeRoot("body");
    yield* makeElement("body");
    hasBody = true;
  }

  function open(element: OpenElement<Content>): void {
    if (elements.depth() >= MAX_OPEN_ELEMENTS) isTooDeep = true;
    if (!isTooDeep) {
      elements.push(element);
      if (element.content.quote !== null) layout.markQuote(element.content.quote, 1);
    } else if (element.content.look.hidesText) isHiddenToTheEnd = true;
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
          quote: null,
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
    const { isNotJudged: isUnknown, isOnPicture } = currentLook();
    if ((isUnknown || isOnPicture) && !isNotJudged) isNotJudged = LETTERS.test(chars);
    const seen = chars.includes("\u00ad") ? chars.replaceAll("\u00ad", "") : chars;
    if (preformatted) layout.preformatted(seen);
    else layout.text(seen);
    links.text(seen);
  }

  function* startElement(tag: Token.TagToken): Sliced<void> {
    const name = tag.tagName;
    if (elements.ignores(name)) {
      // Browsers give the first one what the second one says, also for what stood before.
      const first = rootAttributes.get(name);
      isNotJudged ||= tag.attrs.some((attr) => LOOKS.has(attr.name) && !first?.has(attr.name));
      return;
    }
    if (name === "body" || name === "html") {
      yield* makeRoot(name);
      hasBody ||= name === "body";
      rootAttributes.set(name, new Set(tag.attrs.map((attr) => attr.name)));
    } else if (!hasBody) {
      if (IN_HEAD.has(name)) return; // it stands in the head, whose tag was left out
      yield* makeBody();
    }
    if (!isTooDeep) elements.makeRoomFor(name);
    if (!HOLDS_OTHERS.has(name)) reopenFormatting();
    let content = yield* contentOf(tag);
    if (UNDRAWN.has(name) && elements.has("svg")) {
      content = { ...content, look: { ...content.look, ...UNSEEN } };
    }
    // A browser opens one of several details with the same name.
    const isOneOfMany = name === "details" && attribute(tag, "name") !== undefined;
    const isBackwards = name === "bdo" && attribute(tag, "dir")?.toLowerCase() === "rtl";
    if (PARTLY_SEEN.has(name) || isOneOfMany || isBackwards) {
      content = { ...content, look: { ...content.look, isNotJudged: true } };
    }
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
    open({
      name,
      content: { ...content, isLink: url !== undefined, quote: quoteKindOf(tag), watched },
    });
  }

  function showPicture(tag: Token.TagToken, { hidesPictures }: Look): void {
    show(attribute(tag, "alt") ?? "", hidesPictures);
    if (!hidesPictures && !isHiddenToTheEnd) links.picture();
  }

  function* startTag(tag: Token.TagToken): Sliced<void> {
    const name = tag.tagName;
    isAfterPre = false;
    if (name === "link" && /^\s*data:/i.test(attribute(tag, "href") ?? "")) isNotJudged = true;
    if (skipped !== "") {
      if (name === skipped) skippedDepth++;
      else isInCode ||= CODE.has(name);
    } else if (NEVER_TEXT.has(name)) {
      skipped = name;
      skippedDepth = 1;
      watcher?.skipped(name);
      // Browsers show it in place of the element's other content.
      if (attribute(tag, "shadowrootmode") !== undefined) isNotJudged = true;
      nodeOf(tag);
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
      if (CODE.has(name)) isInCode = false;
      if (name === skipped && --skippedDepth === 0) skipped = "";
    } else if (isInHead) {
      if (/^(?:head|body|html|br)$/.test(name)) isInHead = false;
    } else if (name === "br") layout.lineBreak();
    else if (!isTooDeep) elements.close(name);
  }

  /** Conditional comments are text in some mail programs. */
  function readComment(text: string): void {
    if (skipped !== "" || !/^\s*\[if\s/i.test(text)) return;
    steps.count(text.length);
    hiddenRemoved ||= hasWords(text);
  }

  function readText(text: string): void {
    if (UNSEEN_TEXT.has(skipped) && !isInCode) hiddenRemoved ||= LETTERS.test(text);
    if (skipped !== "") return;
    const chars = isAfterPre ? text.replace(/^\n/, "") : text;
    const isBlank = BLANK.test(chars);
    // What a head cannot hold ends it.
    if (isInHead && isBlank) return;
    isInHead = false;
    isAfterPre = false;
    if (!isBlank) reopenFormatting();
    const look = currentLook();
    const isFolded = elements.top()?.content.isFolded === true;
    const isHidden = look.hidesText || isFolded;
    watcher?.text(chars, isHidden || isHiddenToTheEnd);
    show(chars, isHidden, look.preformatted);
  }

  for (const token of readTokens(html, steps)) {
    if (token === null) yield null;
    else if (token.type === "start") yield* startTag(token.tag);
    else if (token.type === "end") endTag(token.name);
    else if (token.type === "text") {
      if (!hasBody && skipped === "" && !BLANK.test(token.text)) yield* makeBody();
      readText(token.text);
    } else if (token.type === "comment") {
      watcher?.comment();
      readComment(token.text);
    } else if (token.isStandard && elements.depth() === 0) elements.nestAsStandard();
  }
  elements.closeAll();
  const { text, removed } = removeInvisible(layout.result());
  return {
    text: text.trimEnd(),
    quotes: layout.quotedLines(),
    links: links.found,
    hiddenRemoved: hiddenRemoved || removed,
    isTooComplex: steps.areSpent,
    isNotJudged,
    steps: steps.done,
  };
}
