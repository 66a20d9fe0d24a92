/**
 * Header fields as they go out: ASCII, folded, nothing in them but what was meant (RFC 5322, section
 * 2.2; RFC 2047). Own code, where the library passes on what looks like an encoded-word, folds lines of
 * nothing but white space, and lets a long word pass the greatest length of a line.
 */
import { encodeWord } from "nodemailer/lib/mime-funcs";
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";

/** Where lines are folded if they can be, in characters. */
const LINE_LENGTH = 76;
/** A longer word is encoded: with the field's name it has to stay under 998 octets (RFC 5322, 2.1.1). */
const MAX_WORD = 850;
/** Length of an encoded-word, which with the first line's "Subject: " has to fit in 76 (RFC 2047, section 2). */
const ENCODED_WORD = 52;
/** Words of visible ASCII with one space between them. */
const PLAIN = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;
/** Words that stand in a display name as they are. */
const ATOMS = /^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/;
const TOKEN = /^[\x20-\x7e]+$/;
const FIELD_NAME = /^[A-Za-z0-9-]{1,76}$/;
const ADDR_SPEC = /^[\x21\x23-\x27\x2a\x2b\x2d-\x39\x3d\x3f\x41-\x5a\x5e-\x7e]+@[A-Za-z0-9.-]+$/;
const MESSAGE_ID = /^[\x21-\x3b\x3d\x3f-\x7e]{1,250}$/;

/** A field of free text, such as Subject. @returns it without the line end behind it */
export function textField(name: string, value: string): string {
  if (value === "") return fold(name, []);
  return fold(name, isPlain(value) ? value.split(" ") : encodedWords(value));
}

/** A field of addresses, such as To. @throws TypeError for what is no addr-spec */
export function addressField(name: string, addresses: readonly MailAddress[]): string {
  const tokens = addresses.flatMap((address, index) => {
    const words = addressTokens(address);
    if (index < addresses.length - 1) words[words.length - 1] += ",";
    return words;
  });
  return fold(name, tokens);
}

/** A field of Message-IDs, such as References. @param ids without brackets */
export function idField(name: string, ids: readonly string[]): string {
  return fold(
    name,
    ids.map((id) => {
      if (!MESSAGE_ID.test(id)) throw new TypeError("not a Message-ID");
      return `<${id}>`;
    }),
  );
}

/**
 * A name, a colon and tokens with white space between them, where it may be folded.
 * @param tokens visible ASCII and single spaces
 */
export function fold(name: string, tokens: readonly string[]): string {
  if (!FIELD_NAME.test(name)) throw new TypeError("not the name of a header field");
  let line = `${name}:`;
  const lines: string[] = [];
  for (const [index, token] of tokens.entries()) {
    // Whatever slips through the callers' rules must not end the line.
    if (!TOKEN.test(token)) throw new TypeError("a header field takes visible ASCII only");
    // The first stays beside the name: a line of the name alone is read as an empty field by some.
    if (index > 0 && line.length + 1 + token.length > LINE_LENGTH) {
      lines.push(line);
      line = "";
    }
    line += ` ${token}`;
  }
  return [...lines, line].join("\r\n");
}

function addressTokens({ name, address }: MailAddress): string[] {
  if (!ADDR_SPEC.test(address)) throw new TypeError("not an addr-spec");
  if (name === null || name === "") return [address];
  return [...phrase(name), `<${address}>`];
}

/** A display name: atoms, a quoted-string, or encoded-words (RFC 5322, section 3.2.5; RFC 2047, 5). */
function phrase(name: string): string[] {
  if (!isPlain(name)) return encodedWords(name);
  if (ATOMS.test(name)) return name.split(" ");
  return [`"${name.replace(/["\\]/g, "\\$&")}"`];
}

/** Whether text may stand as it is: nothing in it is read as an encoded-word or lost when unfolded. */
function isPlain(text: string): boolean {
  return PLAIN.test(text) && !text.includes("=?") &&
    text.split(" ").every((word) => word.length <= MAX_WORD);
}

function encodedWords(text: string): string[] {
  const ascii = text.match(/[\x20-\x7e]/g)?.length ?? 0;
  return encodeWord(text, ascii * 2 > text.length ? "Q" : "B", ENCODED_WORD).split(" ");
}
