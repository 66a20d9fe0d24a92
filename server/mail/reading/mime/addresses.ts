/** Lists of addresses in headers (RFC 5322, section 3.4; RFC 6532). Pure; linear in what is read. */
import { domainToASCII } from "node:url";
import { decodeWords } from "./encoded_words.ts";
import { withoutControls } from "./header_fields.ts";
import type { MailAddress, ParseWarning } from "../parsed/parsed_mail.ts";

export interface AddressList {
  addresses: MailAddress[];
  /** Whether the list went on beyond what was asked for. */
  isCut: boolean;
}

/** UTF-16 units of a display name; longer ones are cut. */
const MAX_NAME = 200;
/** RFC 5321 allows 64 and 255. */
const MAX_LOCAL_PART = 64;
const MAX_DOMAIN = 255;
const ASCII_DOMAIN = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?|\[[!-Z^-~]+\])$/;
// deno-lint-ignore no-control-regex
const LOCAL_PART = /^(?:[^\x00-\x20"(),:;<>@[\\\]\x7f-\xa0]+|"[^\x00-\x1f\x7f"]*")$/;

/**
 * The addresses of a list. Groups are dissolved; what holds no address is left out.
 * @param text as fieldValue() gives it, encoded words not decoded
 * @param max addresses that are read
 * @param warnings gets `unknown_charset`
 */
export function parseAddresses(
  text: string,
  max: number,
  warnings: Set<ParseWarning>,
): AddressList {
  const addresses: MailAddress[] = [];
  for (const mailbox of readMailboxes(text)) {
    const address = addressOf(mailbox.spec);
    if (address === null) continue;
    if (addresses.length === max) return { addresses, isCut: true };
    addresses.push({ name: nameOf(mailbox.phrase || mailbox.comment, warnings), address });
  }
  return { addresses, isCut: false };
}

/** A mailbox of a list as it is written. */
interface Mailbox {
  /** Quotes undone. */
  phrase: string;
  /** Text of the last comment. */
  comment: string;
  /** What should be an addr-spec. */
  spec: string;
}

/** More of a name or an address is not looked at, so that no list takes more than linear time. */
const MAX_KEPT = 8 * MAX_NAME;
/** Some mailers leave commas and brackets in encoded words. */
const WORD = /=\?[^?\s]{1,60}\?[BbQq]\?[^?]*\?=/y;

/**
 * Gives each mailbox of a list; one that follows another without a comma is one of its own. A quote, comment or bracket that never ends is an ordinary
 * character.
 */
function* readMailboxes(text: string): Generator<Mailbox> {
  const last = {
    quote: text.lastIndexOf('"'),
    comment: text.lastIndexOf(")"),
    angle: text.lastIndexOf(">"),
  };
  let [phrase, bare, comment] = ["", "", ""];
  /** What stands behind the brackets: of this mailbox, or the next one's name. */
  let behind = "";
  let angle: string | null = null;
  const add = (toPhrase: string, toBare: string) => {
    if (angle !== null) {
      if (behind.length < MAX_KEPT) behind += toPhrase.slice(0, MAX_KEPT);
    } else if (phrase.length < MAX_KEPT) phrase += toPhrase.slice(0, MAX_KEPT);
    if (bare.length < MAX_KEPT) bare += toBare.slice(0, MAX_KEPT);
  };
  const end = () => {
    [phrase, behind, bare, comment, angle] = ["", "", "", "", null];
  };
  const taken = (): Mailbox[] => {
    const mailboxes = angle === null
      ? specsOf(bare.trim()).map((spec) => ({ phrase: "", comment, spec }))
      : [{ phrase: (phrase + behind).trim(), comment, spec: angle }];
    end();
    return mailboxes;
  };
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (character === '"' && i < last.quote) {
      const quoted = readQuoted(text, i);
      add(quoted.content, text.slice(i, quoted.end));
      i = quoted.end - 1;
    } else if (character === "(" && i < last.comment) {
      const found = readComment(text, i);
      comment = found.content.trim() || comment;
      add(" ", " ");
      i = found.end - 1;
    } else if (character === "<" && i < last.angle) {
      const close = text.indexOf(">", i);
      if (angle !== null) {
        yield { phrase: phrase.trim(), comment, spec: angle };
        const name = behind;
        end();
        phrase = name;
      }
      angle = text.slice(i + 1, Math.min(close, i + 1 + MAX_KEPT)).trim();
      i = close;
    } else if (character === "," || character === ";") {
      if (bare !== "" || angle !== null) yield* taken();
    } else if (character === ":" && angle === null && !/[@[]/.test(bare.slice(-MAX_DOMAIN))) {
      [phrase, bare, comment] = ["", "", ""]; // the name of a group
    } else {
      WORD.lastIndex = i;
      const taken = character === "=" && text[i + 1] === "?" ? WORD.exec(text)?.[0] : undefined;
      add(taken ?? character, taken ?? character);
      i += (taken?.length ?? 1) - 1;
    }
  }
  if (bare !== "" || angle !== null) yield* taken();
}

/** Addresses side by side, where each of them is one; else the text as it is. */
function specsOf(bare: string): string[] {
  const specs = bare.split(/\s+/);
  return specs.length > 1 && specs.every((spec) => addressOf(spec) !== null) ? specs : [bare];
}

/** A quoted string that begins here; to the end of the text where it never ends. */
function readQuoted(text: string, start: number): { content: string; end: number } {
  let content = "";
  let i = start + 1;
  for (; i < text.length && text[i] !== '"'; i++) {
    if (text[i] === "\\" && i + 1 < text.length) i++;
    content += text[i];
  }
  return { content, end: Math.min(text.length, i + 1) };
}

/** A comment that begins here, with those inside it. */
function readComment(text: string, start: number): { content: string; end: number } {
  let [content, depth, i] = ["", 1, start + 1];
  for (; i < text.length; i++) {
    if (text[i] === "\\" && i + 1 < text.length) i++;
    else if (text[i] === "(") depth++;
    else if (text[i] === ")" && --depth === 0) break;
    content += text[i];
  }
  return { content, end: Math.min(text.length, i + 1) };
}

/** The address with its domain in A-labels, lowercased; null where it is none. */
function addressOf(spec: string): string | null {
  // A route of former days: <@a.example,@b.example:user@c.example>
  const given = /^@[^:]*:(.*)$/.exec(spec)?.[1] ?? spec;
  const at = given.lastIndexOf("@");
  const local = given.slice(0, Math.max(0, at)).trim();
  const domain = given.slice(at + 1).trim();
  if (local.length > MAX_LOCAL_PART || !LOCAL_PART.test(local) || domain.length > MAX_DOMAIN) {
    return null;
  }
  // deno-lint-ignore no-control-regex
  const ascii = /^[\x00-\x7f]*$/.test(domain) ? domain.toLowerCase() : domainToASCII(domain);
  return ascii.length <= MAX_DOMAIN && ASCII_DOMAIN.test(ascii) ? `${local}@${ascii}` : null;
}

function nameOf(text: string, warnings: Set<ParseWarning>): string | null {
  const { text: decoded, isKnown } = decodeWords(text.slice(0, MAX_KEPT));
  if (!isKnown) warnings.add("unknown_charset");
  const name = withoutControls(decoded).replaceAll(/\s+/g, " ").trim().slice(0, MAX_NAME);
  return name === "" ? null : name.toWellFormed();
}
