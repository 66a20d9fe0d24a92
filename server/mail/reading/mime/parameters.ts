/** Values with parameters, as of Content-Type and Content-Disposition (RFC 2045, RFC 2231). Pure; linear. */
import { decodeCharset } from "./charset.ts";
import { hexPair } from "./transfer_encoding.ts";

export interface ValueWithParameters {
  /** Lowercased; its first word, since some forget the semicolon behind it. */
  value: string;
  /**
   * Lowercased names without the marks of RFC 2231, to values decoded by it; of doubled ones the
   * first. Encoded words, which have no place there, are as they were.
   */
  parameters: ReadonlyMap<string, string>;
}

/** Longer ones are cut: no mailer writes them. */
const MAX_CHARACTERS = 16_384;
const MAX_PARAMETERS = 200;

/** @param text as fieldValue() gives it, encoded words not decoded */
export function parseParameters(text: string): ValueWithParameters {
  const [first = "", ...rest] = splitOutside(text.slice(0, MAX_CHARACTERS));
  const parameters = new Map<string, string>();
  const pieces = new Map<string, Piece[]>();
  for (const { name, value } of rest.slice(0, MAX_PARAMETERS).map(nameAndValue)) {
    const piece = /^([^*]+)\*(?:(\d{1,4})(\*)?)?$/.exec(name);
    if (piece === null) {
      if (!parameters.has(name)) parameters.set(name, value);
      continue;
    }
    const [, base, number, mark] = piece;
    const isEncoded = number === undefined || mark === "*";
    const known = pieces.get(base!);
    const made = { number: Number(number ?? 0), isEncoded, value };
    if (known === undefined) pieces.set(base!, [made]);
    else known.push(made);
  }
  // With both forms, RFC 2231's counts: the other is there for readers that do not know it.
  for (const [name, of] of pieces) parameters.set(name, joinPieces(of));
  return { value: first.trim().toLowerCase().split(/[\s,]/, 1)[0]!, parameters };
}

interface Piece {
  number: number;
  isEncoded: boolean;
  value: string;
}

/** The value of a parameter in pieces, `charset'language'` in front of the first (RFC 2231, section 4.1). */
function joinPieces(pieces: Piece[]): string {
  pieces.sort((a, b) => a.number - b.number);
  const first = pieces[0]!;
  const head = first.isEncoded ? /^([^']*)'[^']*'/.exec(first.value) : null;
  const bytes: number[] = [];
  for (const piece of pieces) {
    const value = piece === first && head !== null
      ? piece.value.slice(head[0].length)
      : piece.value;
    const codes = new TextEncoder().encode(value);
    for (let i = 0; i < codes.length; i++) {
      const octet = piece.isEncoded && codes[i] === 0x25 ? hexPair(codes[i + 1], codes[i + 2]) : -1;
      bytes.push(octet < 0 ? codes[i]! : octet);
      if (octet >= 0) i += 2;
    }
  }
  return decodeCharset(Uint8Array.from(bytes), head?.[1] ?? "").text;
}

function nameAndValue(text: string): { name: string; value: string } {
  const equals = text.indexOf("=");
  if (equals < 0) return { name: text.trim().toLowerCase(), value: "" };
  return { name: text.slice(0, equals).trim().toLowerCase(), value: text.slice(equals + 1).trim() };
}

/** What stands between semicolons, outside quotes; quotes, backslashes and comments are undone. */
function splitOutside(text: string): string[] {
  const parts: string[] = [];
  const lastQuote = text.lastIndexOf('"');
  let [part, isQuoted, comments] = ["", false, 0];
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (isQuoted) {
      // Windows paths in file names are not escaped.
      if (character === "\\" && /["\\]/.test(text[i + 1] ?? "")) part += text[++i];
      else if (character === '"') isQuoted = false;
      else part += character;
    } else if (comments > 0) {
      if (character === "\\") i++;
      else if (character === "(") comments++;
      else if (character === ")") comments--;
    } else if (character === '"' && i < lastQuote) isQuoted = true;
    else if (character === "(" && /(?:^|[\s;])$/.test(part.slice(-1))) comments++;
    else if (character === ";") {
      parts.push(part);
      part = "";
    } else part += character;
  }
  parts.push(part);
  return parts;
}
