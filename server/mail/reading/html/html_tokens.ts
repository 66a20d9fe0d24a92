/** HTML as a stream of tags and texts, without a tree: linear for every nesting. */
import { Token, Tokenizer, TokenizerMode } from "parse5";
import { evaluateMedia, type MediaMatch } from "../css/media_queries.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import type { StepBudget } from "../../../base/slices/step_budget.ts";

export type HtmlToken =
  | {
    type: "doctype";
    /** Whether it has browsers nest as the standard says, not as very old pages need it. */
    isStandard: boolean;
  }
  | { type: "start"; tag: Token.TagToken }
  | { type: "end"; name: string }
  | { type: "comment"; text: string }
  /** A piece of text, entities decoded; a long one comes in several. */
  | { type: "text"; text: string };

/** Elements whose content is no HTML (HTML, section 13.2.6.4). */
const MODES: Readonly<Record<string, typeof TokenizerMode[keyof typeof TokenizerMode]>> = {
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  plaintext: TokenizerMode.PLAINTEXT,
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  textarea: TokenizerMode.RCDATA,
  title: TokenizerMode.RCDATA,
  xmp: TokenizerMode.RAWTEXT,
};

/** Longer texts are handed out in pieces. */
const RUN_CHARACTERS = 16 * 1024;
/** What the tokenizer is given at once; for a longer token, an eighth of what it has already. */
const CHUNK_CHARACTERS = 4 * 1024;
/** Tokens that it makes of it at once. */
const WAITING_TOKENS = 256;
/** What is looked through at once for the last style sheet. */
const WINDOW_CHARACTERS = 64 * 1024;

/**
 * Every token in turn, and null where others may run.
 * @param steps counts the characters and the tokens
 */
export function* readTokens(html: string, steps: StepBudget): Generator<HtmlToken | null> {
  const nothing = () => {};
  let waiting: HtmlToken[] = [];
  let isPaused = false;
  // The tokenizer reports words and spaces one by one: joined they cost a fraction.
  let run = "";
  const put = (token: HtmlToken) => {
    waiting.push(token);
    if (waiting.length < WAITING_TOKENS || isPaused) return;
    isPaused = true;
    tokenizer.pause();
  };
  const endRun = () => {
    for (let at = 0; at < run.length;) {
      const end = wholeCharacters(run, at + RUN_CHARACTERS);
      put({ type: "text", text: run.slice(at, end) });
      at = end;
    }
    run = "";
  };
  const onCharacter = (token: Token.CharacterToken) => {
    run += token.chars;
    if (run.length > RUN_CHARACTERS) endRun();
  };
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: false }, {
    onComment(comment) {
      endRun();
      put({ type: "comment", text: comment.data });
    },
    onDoctype: (doctype) => put({ type: "doctype", isStandard: isStandards(doctype) }),
    onEof: endRun,
    onNullCharacter: nothing,
    onParseError: null,
    onCharacter,
    onWhitespaceCharacter: onCharacter,
    onStartTag(tag) {
      endRun();
      if (Object.hasOwn(MODES, tag.tagName)) tokenizer.state = MODES[tag.tagName]!;
      put({ type: "start", tag });
    },
    onEndTag(tag) {
      endRun();
      put({ type: "end", name: tag.tagName });
    },
  });
  let at = 0;
  do {
    const end = at + Math.max(CHUNK_CHARACTERS, tokenizer.preprocessor.html.length >> 3);
    const chunk = html.slice(at, end);
    at += chunk.length;
    steps.count(chunk.length);
    tokenizer.write(chunk, at === html.length);
    for (;;) {
      const tokens = waiting;
      waiting = [];
      steps.count(tokens.length);
      for (const token of tokens) {
        yield token;
        if (steps.isRestDue()) yield null;
      }
      if (!isPaused) break;
      isPaused = false;
      tokenizer.resume();
    }
    if (steps.isRestDue()) yield null;
  } while (at < html.length);
}

/** An end that parts no pair of surrogates. */
function wholeCharacters(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? end + 1 : end;
}

/** HTML, section 13.2.6.4.1, without its list of 60 old names: those have no system identifier. */
function isStandards({ name, publicId, systemId, forceQuirks }: Token.DoctypeToken): boolean {
  if (forceQuirks || name !== "html") return false;
  return publicId === null ||
    (systemId !== null && /^-\/\/w3c\/\/dtd x?html (?:4\.01|1\.)/i.test(publicId));
}

/** An attribute; undefined where it is missing. */
export function attribute(
  tag: Pick<Token.TagToken, "attrs">,
  name: string,
): string | undefined {
  for (const attr of tag.attrs) if (attr.name === name) return attr.value;
  return undefined;
}

export interface StyleSheet {
  css: string;
  /** Never "no". */
  holds: MediaMatch;
}

/** The style sheets that hold, or may hold, for a screen, in order. What stands in templates is none. */
export function* styleSheetsOf(html: string, steps: StepBudget): Sliced<StyleSheet[]> {
  // A sheet is ended by its own tag: what follows the last need not be read.
  const lastStyle = yield* lastStyleTag(html);
  if (lastStyle < 0) return [];
  const end = html.slice(lastStyle).search(/<\/style/i);
  const until = end < 0 ? html.length : lastStyle + end + "</style>".length;
  const sheets: StyleSheet[] = [];
  let holds: MediaMatch = "yes";
  let templates = 0;
  let sheet: string[] | null = null;
  for (const token of readTokens(html.slice(0, until), steps)) {
    if (token === null) yield null;
    else if (token.type === "text") sheet?.push(token.text);
    else if (token.type === "start") {
      const { tag } = token;
      if (tag.tagName === "template") templates++;
      if (tag.tagName === "style" && templates === 0) {
        holds = holdingOf(tag);
        if (holds !== "no") sheet = [];
      }
    } else if (token.type === "end") {
      if (token.name === "template" && templates > 0) templates--;
      if (token.name === "style" && sheet !== null) {
        sheets.push({ css: sheet.join(""), holds });
        sheet = null;
      }
    }
  }
  // Browsers apply an unclosed sheet too.
  if (sheet !== null) sheets.push({ css: sheet.join(""), holds });
  return sheets;
}

/** Where the last `<style` begins; -1 where there is none. */
function* lastStyleTag(html: string): Sliced<number> {
  for (let end = html.length; end > 0; end -= WINDOW_CHARACTERS) {
    const start = Math.max(0, end - WINDOW_CHARACTERS);
    let found = -1;
    for (const { index } of html.slice(start, end + "<style".length - 1).matchAll(/<style/gi)) {
      found = start + index;
    }
    if (found >= 0) return found;
    yield null;
  }
  return -1;
}

function holdingOf(tag: Token.TagToken): MediaMatch {
  const type = (attribute(tag, "type") ?? "").trim().toLowerCase();
  return type === "" || type === "text/css" ? evaluateMedia(attribute(tag, "media") ?? "") : "no";
}
