import { JsonError, type JsonErrorCode } from "./json_error.ts";
import { jsonPosition } from "./json_position.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const MINUS = 0x2d;
const LOWER_U = 0x75;

/** Up to here names are compared one by one; a Set costs more than that for small objects. */
const LINEAR_NAMES = 8;

/** The shortest decimal that can reach 2^53 without an exponent has sixteen digits. */
const SAFE_DIGITS = 15;

const TWO_POW_53 = 2 ** 53;

/** From here on ES6 prints whole numbers with an exponent, and other languages read them back. */
const EXPONENT_FORM = 1e21;

/**
 * Scans a whole text in one pass and throws a {@linkcode JsonError} at the first thing that is not
 * strict JSON. It checks the grammar (RFC 8259), duplicate names and lone surrogates (RFC 7493 2.1,
 * 2.3). It refuses numbers that languages read differently (RFC 7493 2.2), and more than `maxDepth`
 * nested containers. With `outermostIsFree` the outermost container is not counted.
 *
 * The text itself must be well-formed UTF-16; then only escapes can spell a lone surrogate. The
 * scanner keeps its own stack, so that no nesting can overflow the machine's.
 */
export function scanJson(text: string, maxDepth: number, outermostIsFree: boolean): void {
  const maxContainers = outermostIsFree ? maxDepth + 1 : maxDepth;
  const inObject: boolean[] = [];
  const firstName: number[] = [];
  const nameSets: (Set<string> | undefined)[] = [];
  const names: string[] = [];
  let depth = 0;
  let i = skipSpace(text, 0);

  for (;;) {
    const c = text.charCodeAt(i);
    let opened = false;
    if (c === QUOTE) {
      const end = stringEnd(text, i + 1);
      i = (end < 0 ? ~end : end) + 1;
    } else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      if (depth >= maxContainers) {
        const allowed = `at most ${maxDepth} arrays and objects may be nested`;
        throw refusal(text, "too_deep", allowed + (outermostIsFree ? " in a member" : ""), i);
      }
      inObject[depth] = c === OPEN_BRACE;
      firstName[depth] = names.length;
      nameSets[depth] = undefined;
      depth++;
      i = skipSpace(text, i + 1);
      opened = text.charCodeAt(i) !== (c === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET);
    } else if (c === MINUS || isDigit(c)) {
      i = numberEnd(text, i);
    } else {
      i = literalEnd(text, i, c);
    }

    if (!opened) {
      for (;;) {
        i = skipSpace(text, i);
        if (depth === 0) {
          if (i < text.length) throw refusal(text, "syntax", "something follows the JSON value", i);
          return;
        }
        const next = text.charCodeAt(i);
        const object = inObject[depth - 1];
        if (next === COMMA) {
          i = skipSpace(text, i + 1);
          break;
        }
        if (next !== (object ? CLOSE_BRACE : CLOSE_BRACKET)) {
          throw refusal(text, "syntax", object ? "expected ',' or '}'" : "expected ',' or ']'", i);
        }
        i++;
        depth--;
        names.length = firstName[depth]!;
      }
    }

    if (inObject[depth - 1]) {
      if (text.charCodeAt(i) !== QUOTE) {
        throw refusal(text, "syntax", "expected a member name in double quotes", i);
      }
      const start = i;
      const end = stringEnd(text, i + 1);
      i = (end < 0 ? ~end : end) + 1;
      const name: string = end < 0 ? JSON.parse(text.slice(start, i)) : text.slice(start + 1, end);
      const first = firstName[depth - 1]!;
      const count = names.length - first;
      let set = nameSets[depth - 1];
      if (set === undefined && count >= LINEAR_NAMES) {
        set = nameSets[depth - 1] = new Set(names.slice(first));
      }
      if (set === undefined ? names.indexOf(name, first) >= 0 : set.has(name)) {
        throw refusal(text, "duplicate_name", "a member name appears twice in one object", start);
      }
      names.push(name);
      set?.add(name);
      i = skipSpace(text, i);
      if (text.charCodeAt(i) !== COLON) {
        throw refusal(text, "syntax", "expected ':' after a member name", i);
      }
      i = skipSpace(text, i + 1);
    }
  }
}

function refusal(text: string, code: JsonErrorCode, reason: string, index: number): JsonError {
  return new JsonError(code, reason, jsonPosition(text, index));
}

function skipSpace(text: string, start: number): number {
  let i = start;
  for (; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break;
  }
  return i;
}

function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39;
}

/** The index of the closing quote; its bitwise complement when the string holds an escape. */
function stringEnd(text: string, start: number): number {
  let escaped = false;
  for (let i = start; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) return escaped ? ~i : i;
    if (c === BACKSLASH) {
      escaped = true;
      i = escapeEnd(text, i);
    } else if (c < 0x20) {
      throw refusal(text, "syntax", "a control character in a string must be escaped", i);
    }
  }
  throw refusal(text, "syntax", "a string is not closed before the text ends", text.length);
}

/** The index of the last character of the escape (or surrogate pair of escapes) that begins at i. */
function escapeEnd(text: string, i: number): number {
  const c = text.charCodeAt(i + 1);
  if (c !== LOWER_U) {
    if (i + 1 < text.length && '"\\/bfnrt'.includes(text[i + 1]!)) return i + 1;
    throw refusal(text, "syntax", "unknown escape in a string", i);
  }
  const unit = hexUnit(text, i + 2);
  if (unit < 0) throw refusal(text, "syntax", "\\u must be followed by four hex digits", i);
  if (unit < 0xd800 || unit > 0xdfff) return i + 5;
  const isPair = unit <= 0xdbff && text.charCodeAt(i + 6) === BACKSLASH &&
    text.charCodeAt(i + 7) === LOWER_U && (hexUnit(text, i + 8) & 0xfc00) === 0xdc00;
  if (isPair) return i + 11;
  throw refusal(text, "lone_surrogate", "an escape spells half of a surrogate pair", i);
}

/** The code unit that four hex digits spell; -1 when they are not four hex digits. */
function hexUnit(text: string, start: number): number {
  let unit = 0;
  for (let i = start; i < start + 4; i++) {
    const c = text.charCodeAt(i);
    if (isDigit(c)) unit = unit * 16 + c - 0x30;
    else if (c >= 0x61 && c <= 0x66) unit = unit * 16 + c - 0x57;
    else if (c >= 0x41 && c <= 0x46) unit = unit * 16 + c - 0x37;
    else return -1;
  }
  return unit;
}

function numberEnd(text: string, start: number): number {
  let i = start;
  if (text.charCodeAt(i) === MINUS) i++;
  const whole = i;
  i = digitsEnd(text, i);
  if (i > whole + 1 && text.charCodeAt(whole) === 0x30) {
    throw refusal(text, "syntax", "a number must not begin with 0 before other digits", whole);
  }
  let plain = i - whole <= SAFE_DIGITS;
  if (text.charCodeAt(i) === 0x2e) i = digitsEnd(text, i + 1);
  if ((text.charCodeAt(i) | 0x20) === 0x65) {
    plain = false;
    i++;
    const sign = text.charCodeAt(i);
    i = digitsEnd(text, sign === 0x2b || sign === MINUS ? i + 1 : i);
  }
  if (!plain) checkDouble(text, start, i);
  return i;
}

function digitsEnd(text: string, start: number): number {
  let i = start;
  while (i < text.length && isDigit(text.charCodeAt(i))) i++;
  if (i === start) throw refusal(text, "syntax", "expected a digit in a number", i);
  return i;
}

function checkDouble(text: string, start: number, end: number): void {
  const size = Math.abs(Number(text.slice(start, end)));
  if (size === Infinity) {
    throw refusal(text, "number_overflow", "a number is too large for a 64-bit double", start);
  }
  if (size >= TWO_POW_53 && size < EXPONENT_FORM && Number.isInteger(size)) {
    throw refusal(
      text,
      "unsafe_integer",
      "a whole number is beyond 2^53-1, send it as a string",
      start,
    );
  }
}

function literalEnd(text: string, i: number, first: number): number {
  const literal = first === 0x74 ? "true" : first === 0x66 ? "false" : "null";
  if (text.startsWith(literal, i)) return i + literal.length;
  const reason = i < text.length ? "expected a JSON value" : "the text ends before its value";
  throw refusal(text, "syntax", reason, i);
}
