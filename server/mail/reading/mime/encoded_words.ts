/** Encoded words in headers (RFC 2047). Pure; linear in the text. */
import { decodeCharset } from "./charset.ts";
import { toEnd } from "../../../base/slices/sliced.ts";
import { decodeBase64, hexPair } from "./transfer_encoding.ts";

export interface DecodedWords {
  text: string;
  /** False where a word names a charset that is unknown; it was read as windows-1252. */
  isKnown: boolean;
}

/** Blanks inside a word are against the RFC, and common. The charset may name a language (RFC 2231, section 5). */
const WORD = /=\?([!-)+->@-~]{1,60})(?:\*[!->@-~]{0,60})?\?([BbQq])\?([^?]*)\?=/g;

/** Charsets of one text that are decoded; to find out that one is unknown takes long. */
const MAX_CHARSETS = 16;

/** A text whose encoded words are decoded; words side by side may share a character. */
export function decodeWords(text: string): DecodedWords {
  if (!text.includes("=?")) return { text, isKnown: true };
  let [decoded, end, isKnown] = ["", 0, true];
  const charsets = new Set<string>();
  let run: { charset: string; words: Uint8Array[] } | null = null;
  const endRun = () => {
    if (run === null) return;
    const result = decodeCharset(concat(run.words), run.charset);
    decoded += result.text;
    isKnown &&= result.isKnown;
    run = null;
  };
  const leaveRest = () => {
    endRun();
    return { text: decoded + text.slice(end), isKnown: false };
  };
  for (const match of text.matchAll(WORD)) {
    const [word, charset, encoding, content] = match as unknown as [string, string, string, string];
    const name = charset.toLowerCase();
    if (charsets.add(name).size > MAX_CHARSETS) return leaveRest();
    const between = text.slice(end, match.index);
    end = match.index + word.length;
    const raw = codesOf(content, name);
    const bytes = encoding === "B" || encoding === "b"
      ? toEnd(decodeBase64(raw.codes)).bytes
      : quotedWord(raw.codes);
    const isAdjacent: boolean = run !== null && /^\s*$/.test(between);
    if (isAdjacent && run!.charset === raw.charset) {
      run!.words.push(bytes);
      continue;
    }
    endRun();
    if (!isAdjacent) decoded += between;
    run = { charset: raw.charset, words: [bytes] };
  }
  endRun();
  return { text: decoded + text.slice(end), isKnown };
}

/** The "Q" encoding: `_` is a space, `=XX` an octet. */
function quotedWord(codes: Uint8Array): Uint8Array {
  let end = 0;
  for (let i = 0; i < codes.length; i++) {
    const octet = codes[i] === 0x3d ? hexPair(codes[i + 1], codes[i + 2]) : -1;
    if (octet >= 0) {
      codes[end++] = octet;
      i += 2;
    } else codes[end++] = codes[i] === 0x5f ? 0x20 : codes[i]!;
  }
  return codes.subarray(0, end);
}

/**
 * The bytes of a word as they stood in the header. What is no ASCII has no place there, and is common:
 * as fieldValue() gives it, it is bytes of the word's own charset read as windows-1252, or it was UTF-8.
 */
function codesOf(content: string, charset: string): { codes: Uint8Array; charset: string } {
  const utf8 = { codes: new TextEncoder().encode(content), charset };
  if (utf8.codes.length === content.length || UTF8.test(charset)) return utf8;
  const codes = new Uint8Array(content.length);
  for (let i = 0; i < content.length; i++) {
    const unit = content.charCodeAt(i);
    const octet = unit < 0x80 ? unit : WINDOWS_1252.get(unit);
    if (octet === undefined) return { ...utf8, charset: "utf-8" };
    codes[i] = octet;
  }
  return { codes, charset };
}

const UTF8 = /^utf-?8/;
/** Octets of the characters that windows-1252 has beyond ASCII. */
const WINDOWS_1252: ReadonlyMap<number, number> = new Map(
  Array.from({ length: 128 }, (_, i) => {
    const octet = 0x80 + i;
    return [new TextDecoder("windows-1252").decode(Uint8Array.of(octet)).charCodeAt(0), octet];
  }),
);

function concat(words: readonly Uint8Array[]): Uint8Array {
  if (words.length === 1) return words[0]!;
  const bytes = new Uint8Array(words.reduce((length, word) => length + word.length, 0));
  let end = 0;
  for (const word of words) {
    bytes.set(word, end);
    end += word.length;
  }
  return bytes;
}
