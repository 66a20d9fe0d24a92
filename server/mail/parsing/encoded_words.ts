/** Encoded words in headers (RFC 2047). Pure; linear in the text. */
import { decodeCharset } from "./charset.ts";
import { toEnd } from "./sliced.ts";
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
    const bytes = encoding === "B" || encoding === "b" ? base64Word(content) : quotedWord(content);
    const isAdjacent: boolean = run !== null && /^\s*$/.test(between);
    if (isAdjacent && run!.charset === name) {
      run!.words.push(bytes);
      continue;
    }
    endRun();
    if (!isAdjacent) decoded += between;
    run = { charset: name, words: [bytes] };
  }
  endRun();
  return { text: decoded + text.slice(end), isKnown };
}

function base64Word(content: string): Uint8Array {
  return toEnd(decodeBase64(codesOf(content))).bytes;
}

/** The "Q" encoding: `_` is a space, `=XX` an octet. */
function quotedWord(content: string): Uint8Array {
  const codes = codesOf(content);
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

/** UTF-8: what is no ASCII has no place in a word, and is kept. */
function codesOf(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}

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
