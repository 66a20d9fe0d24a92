/** Content-Transfer-Encoding (RFC 2045, section 6). Pure; linear in the bytes. */
import type { Sliced } from "../../../base/slices/sliced.ts";

export interface DecodedBytes {
  bytes: Uint8Array;
  /** Whether something could not be decoded: it was left out of base64, left as it is in quoted-printable. */
  isBroken: boolean;
}

/** Bytes looked at between two moments at which others may run. */
const BYTES_A_SLICE = 64 * 1024;
/** Values 0-63; 64 for white space, 65 for the padding, 66 for what has no place there. */
const BASE64 = base64Table();
const [SKIP, PAD, FOREIGN] = [64, 65, 66];
const [TAB, LF, CR, SPACE, EQUALS] = [0x09, 0x0a, 0x0d, 0x20, 0x3d];

/**
 * What the bytes of a part stand for. Anything but base64 and quoted-printable is left as it is: 7bit,
 * 8bit and binary are no encodings, and unknown ones cannot be undone.
 * @param encoding as the header says it, in any case
 */
export function* decodeTransfer(body: Uint8Array, encoding: string): Sliced<DecodedBytes> {
  const name = encoding.trim().toLowerCase();
  if (name === "base64") return yield* decodeBase64(body);
  if (name === "quoted-printable") return yield* decodeQuotedPrintable(body);
  return { bytes: body, isBroken: name !== "" && !/^(?:7-?bit|8-?bit|binary)$/.test(name) };
}

/**
 * Base64, taken leniently: white space is skipped, and so is, as broken, all else outside the
 * alphabet. After padding another encoding may follow.
 */
export function* decodeBase64(body: Uint8Array): Sliced<DecodedBytes> {
  const bytes = new Uint8Array(Math.ceil(body.length / 4) * 3);
  let state: Base64State = { end: 0, bits: 0, count: 0, isBroken: false };
  for (let at = 0; at < body.length; at += BYTES_A_SLICE) {
    if (at > 0) yield null;
    state = base64Piece(body.subarray(at, at + BYTES_A_SLICE), bytes, state);
  }
  const { bits, count } = state;
  const end = state.end + flush(bytes, state.end, bits, count);
  return { bytes: bytes.subarray(0, end), isBroken: state.isBroken || count === 1 };
}

interface Base64State {
  /** Bytes that were written. */
  end: number;
  /** Of a group that is not whole yet, and how many characters of it there were. */
  bits: number;
  count: number;
  isBroken: boolean;
}

/** No generator: a loop in one takes twice the time. */
function base64Piece(body: Uint8Array, bytes: Uint8Array, before: Base64State): Base64State {
  let { end, bits, count, isBroken } = before;
  for (let i = 0; i < body.length; i++) {
    const value = BASE64[body[i]!]!;
    if (value < SKIP) {
      bits = (bits << 6) | value;
      if (++count < 4) continue;
      bytes[end++] = bits >> 16;
      bytes[end++] = bits >> 8;
      bytes[end++] = bits;
      bits = count = 0;
    } else if (value === PAD) {
      end += flush(bytes, end, bits, count);
      if (count === 1) isBroken = true;
      bits = count = 0;
    } else if (value === FOREIGN) isBroken = true;
  }
  return { end, bits, count, isBroken };
}

/** Writes the bytes of a group that is not whole. @returns how many */
function flush(bytes: Uint8Array, at: number, bits: number, count: number): number {
  if (count < 2) return 0;
  bytes[at] = count === 2 ? bits >> 4 : bits >> 10;
  if (count === 3) bytes[at + 1] = bits >> 2;
  return count - 1;
}

/** Quoted-printable, taken leniently: `=` that begins neither two hex digits nor a soft line end stays. */
export function* decodeQuotedPrintable(body: Uint8Array): Sliced<DecodedBytes> {
  const bytes = new Uint8Array(body.length);
  let state: QuotedState = { next: 0, end: 0, blanks: 0, isBroken: false };
  while (state.next < body.length) {
    if (state.next > 0) yield null;
    state = quotedPiece(body, state.next + BYTES_A_SLICE, bytes, state);
  }
  const { end, blanks, isBroken } = state;
  return { bytes: bytes.subarray(0, end - blanks), isBroken };
}

interface QuotedState {
  /** The byte that is looked at next. */
  next: number;
  /** Bytes that were written, and how many blanks they end in. */
  end: number;
  blanks: number;
  isBroken: boolean;
}

/** No generator: a loop in one takes twice the time. */
function quotedPiece(
  body: Uint8Array,
  until: number,
  bytes: Uint8Array,
  before: QuotedState,
): QuotedState {
  let { next: i, end, blanks, isBroken } = before;
  const stop = Math.min(until, body.length);
  while (i < stop) {
    const byte = body[i]!;
    if (byte !== EQUALS) {
      // White space before a line end was added on the way (RFC 2045, section 6.7, rule 3).
      if (byte === LF || (byte === CR && body[i + 1] === LF)) end -= blanks;
      blanks = byte === SPACE || byte === TAB ? blanks + 1 : 0;
      bytes[end++] = byte;
      i++;
      continue;
    }
    blanks = 0;
    const octet = hexPair(body[i + 1], body[i + 2]);
    if (octet >= 0) {
      bytes[end++] = octet;
      i += 3;
      continue;
    }
    const next = softLineEnd(body, i + 1);
    if (next > 0) i = next;
    else {
      isBroken = true;
      bytes[end++] = byte;
      i++;
    }
  }
  return { next: i, end, blanks, isBroken };
}

/** Blanks looked at before a line end: enough for what transports add, and few enough to be linear. */
const PADDING = 80;

/** Where the next line begins if a soft line end stands here, else 0. */
function softLineEnd(body: Uint8Array, from: number): number {
  let i = from;
  while (i < from + PADDING && (body[i] === SPACE || body[i] === TAB)) i++;
  if (i === body.length || body[i] === LF) return i + 1;
  return body[i] === CR && body[i + 1] === LF ? i + 2 : 0;
}

/** The octet of two hexadecimal digits; negative where they are none. */
export function hexPair(high: number | undefined, low: number | undefined): number {
  return (hexDigit(high) << 4) | hexDigit(low);
}

function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function base64Table(): Uint8Array {
  const table = new Uint8Array(256).fill(66);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (let i = 0; i < 64; i++) table[alphabet.charCodeAt(i)] = i;
  for (const blank of [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20]) table[blank] = 64;
  table[0x3d] = 65;
  return table;
}
