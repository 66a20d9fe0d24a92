/** HTML as a stream of tags and texts, without a tree: linear for every nesting. */
import { Token, Tokenizer, TokenizerMode } from "parse5";

export interface HtmlTokens {
  /** A doctype that has browsers nest as the standard says, not as very old pages need it. */
  onStandardsDoctype?(): void;
  onStartTag(tag: Token.TagToken): void;
  onEndTag(name: string): void;
  /** A piece of text, entities decoded; a long one in several. */
  onText(text: string): void;
  onComment?(): void;
}

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

/** Longer texts are told of in pieces. */
const RUN_CHARACTERS = 16 * 1024;

/** Tells of every token in turn. */
export function readTokens(html: string, to: HtmlTokens): void {
  const nothing = () => {};
  // The tokenizer tells of words and spaces one by one: joined they cost a fraction.
  let run = "";
  const endRun = () => {
    const text = run;
    run = "";
    if (text !== "") to.onText(text);
  };
  const onCharacter = (token: Token.CharacterToken) => {
    run += token.chars;
    if (run.length > RUN_CHARACTERS) endRun();
  };
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: false }, {
    onComment: () => to.onComment?.(),
    onDoctype(doctype) {
      if (isStandards(doctype)) to.onStandardsDoctype?.();
    },
    onEof: endRun,
    onNullCharacter: nothing,
    onParseError: null,
    onCharacter,
    onWhitespaceCharacter: onCharacter,
    onStartTag(tag) {
      endRun();
      if (Object.hasOwn(MODES, tag.tagName)) tokenizer.state = MODES[tag.tagName]!;
      to.onStartTag(tag);
    },
    onEndTag(tag) {
      endRun();
      to.onEndTag(tag.tagName);
    },
  });
  tokenizer.write(html, true);
}

/** HTML, section 13.2.6.4.1, without its list of 60 old names: those have no system identifier. */
function isStandards({ name, publicId, systemId, forceQuirks }: Token.DoctypeToken): boolean {
  if (forceQuirks || name !== "html") return false;
  return publicId === null ||
    (systemId !== null && /^-\/\/w3c\/\/dtd x?html (?:4\.01|1\.)/i.test(publicId));
}

/** An attribute; undefined where it is missing. */
export function attribute(tag: Pick<Token.TagToken, "attrs">, name: string): string | undefined {
  for (const attr of tag.attrs) if (attr.name === name) return attr.value;
  return undefined;
}

/** The style sheets that hold for a screen, in order. What stands in templates is none. */
export function styleSheetsOf(html: string): string[] {
  // A sheet is ended by its own tag: what follows the last need not be read.
  const lastStyle = lastIndexOfTag(html, "<style");
  if (lastStyle < 0) return [];
  const end = html.slice(lastStyle).search(/<\/style/i);
  const sheets: string[] = [];
  let templates = 0;
  let sheet: string[] | null = null;
  readTokens(end < 0 ? html : html.slice(0, lastStyle + end + "</style>".length), {
    onStartTag(tag) {
      if (tag.tagName === "template") templates++;
      if (tag.tagName === "style" && templates === 0 && isForScreens(tag)) sheet = [];
    },
    onEndTag(name) {
      if (name === "template" && templates > 0) templates--;
      if (name === "style" && sheet !== null) {
        sheets.push(sheet.join(""));
        sheet = null;
      }
    },
    onText: (text) => sheet?.push(text),
  });
  // Browsers apply a sheet that nobody closed, too.
  const unclosed: string[] | null = sheet;
  if (unclosed !== null) sheets.push((unclosed as string[]).join(""));
  return sheets;
}

function lastIndexOfTag(html: string, start: string): number {
  let found = -1;
  for (const { index } of html.matchAll(new RegExp(start, "gi"))) found = index;
  return found;
}

function isForScreens(tag: Token.TagToken): boolean {
  const type = (attribute(tag, "type") ?? "").trim().toLowerCase();
  const media = (attribute(tag, "media") ?? "").trim().toLowerCase();
  return (type === "" || type === "text/css") && /^(?:all|screen)?$/.test(media);
}
